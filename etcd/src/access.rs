//! How etcd is reached, as the settings say it, and what of that is refused: whatever would send the
//! password in clear, or let others read it.

use crate::settings::Etcd;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::net::IpAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use ureq::http::Uri;
use ureq::http::uri::Scheme;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

/// What is wrong with a setting, or with a file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSetting(pub String);

/// A user of etcd's, and the file with the password.
pub struct Login {
    pub user: String,
    file: String,
}

impl Login {
    /// None where etcd asks for no user.
    pub fn new(settings: &Etcd, endpoints: &[String]) -> Result<Option<Self>, BadSetting> {
        let Etcd { user, password_file: file, .. } = settings;
        match (user.is_empty(), file.is_empty()) {
            (true, true) => Ok(None),
            (false, false) => {
                check_endpoints(endpoints)?;
                Ok(Some(Self { user: user.clone(), file: file.clone() }))
            }
            _ => Err(BadSetting(
                "Of \"pg_snowid.etcd_user\" and \"pg_snowid.etcd_password_file\" only one is set"
                    .into(),
            )),
        }
    }

    /// Reads the file, so that a password that was changed is used from the next login on.
    pub fn password(&self) -> Result<String, BadSetting> {
        let failed = |what: String| BadSetting(format!("Password file \"{}\": {what}", self.file));
        let password = read_private(&self.file).map_err(|error| failed(error.to_string()))?;
        let password = password.trim_end_matches(['\r', '\n']);
        if password.is_empty() {
            return Err(failed("it is empty".into()));
        }
        Ok(password.into())
    }
}

/// The endpoints, without slashes at their ends.
pub fn endpoints(settings: &Etcd) -> Vec<String> {
    let endpoints = settings.endpoints.split(',').map(|url| url.trim().trim_end_matches('/'));
    endpoints.filter(|url| !url.is_empty()).map(Into::into).collect()
}

/// Whether a password may be sent to these. Should TLS fail at one of several, the next one is asked: so
/// either all have it, or none needs it.
fn check_endpoints(endpoints: &[String]) -> Result<(), BadSetting> {
    let is_secure =
        |url: &String| url.parse().is_ok_and(|uri: Uri| uri.scheme() == Some(&Scheme::HTTPS));
    let is_local = |url: &String| {
        url.parse().is_ok_and(|uri: Uri| uri.scheme() == Some(&Scheme::HTTP) && is_loopback(&uri))
    };
    match endpoints.iter().find(|url| !is_secure(url)) {
        Some(url) if !endpoints.iter().all(is_local) => Err(BadSetting(format!(
            "The password would be sent in clear to the endpoint \"{url}\": with one, all must be https, \
             or http on this machine's loopback addresses"
        ))),
        _ => Ok(()),
    }
}

fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or("").trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// The text of a file that is private as PostgreSQL wants its keys to be.
fn read_private(name: &str) -> io::Result<String> {
    // Opening a pipe doesn't wait for a writer.
    let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(name)?;
    check_private(&file)?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

fn check_private(file: &File) -> io::Result<()> {
    let metadata = file.metadata()?;
    // A server's user owns its data directory, which is where it works.
    let server = std::fs::metadata(".")?.uid();
    let refused = if !metadata.is_file() {
        "it is not a regular file"
    } else if !is_private(metadata.uid(), metadata.mode(), server) {
        "it may have permissions u=rw (0600) or less if it is owned by the server's user, u=rw,g=r (0640) or less if \
         by root, and may not be another's"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, refused))
}

fn is_private(owner: u32, mode: u32, server: u32) -> bool {
    match owner {
        _ if owner == server => mode & 0o077 == 0,
        0 => mode & 0o037 == 0,
        _ => false,
    }
}

pub fn tls(settings: &Etcd) -> Result<TlsConfig, BadSetting> {
    let mut config = TlsConfig::builder();
    if !settings.ca_file.is_empty() {
        config = config.root_certs(RootCerts::new_with_certs(&certificates(&settings.ca_file)?));
    }
    if !settings.cert_file.is_empty() {
        let key_file =
            if settings.key_file.is_empty() { &settings.cert_file } else { &settings.key_file };
        let key = PrivateKey::from_pem(&contents(key_file)?);
        let key = key.map_err(|error| in_file(key_file, error))?;
        let chain = certificates(&settings.cert_file)?;
        config = config.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(config.build())
}

fn certificates(file: &str) -> Result<Vec<Certificate<'static>>, BadSetting> {
    let mut certificates = Vec::new();
    for item in parse_pem(&contents(file)?) {
        match item {
            Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(in_file(file, error)),
        }
    }
    if certificates.is_empty() {
        return Err(in_file(file, "it holds no certificate"));
    }
    Ok(certificates)
}

fn contents(file: &str) -> Result<Vec<u8>, BadSetting> {
    std::fs::read(file).map_err(|error| in_file(file, error))
}

fn in_file(file: &str, error: impl std::fmt::Display) -> BadSetting {
    BadSetting(format!("File \"{file}\": {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_get_the_password(endpoints: &[&str]) -> bool {
        let endpoints: Vec<_> = endpoints.iter().map(|&url| url.into()).collect();
        check_endpoints(&endpoints).is_ok()
    }

    #[test]
    fn a_password_goes_over_tls_or_stays_on_the_machine() {
        assert!(may_get_the_password(&["https://a:1", "HTTPS://[2001:db8::1]:2"]));
        assert!(may_get_the_password(&[
            "http://127.0.0.1:1",
            "http://127.9.9.9:1",
            "http://[::1]:1",
            "http://LocalHost:1",
        ]));
        for url in [
            "http://10.0.0.1:1",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://[::2]:1",
            "http://",
            "ftp://127.0.0.1",
            "10.0.0.1:2379",
            "localhost:2379",
            "/x",
        ] {
            assert!(!may_get_the_password(&[url]), "{url}");
            assert!(!may_get_the_password(&["https://a", url]), "{url} beside https");
        }
        assert!(
            !may_get_the_password(&["https://a", "http://127.0.0.1"]),
            "TLS fails: no way down"
        );
    }

    #[test]
    fn a_password_file_is_private_as_a_key_is() {
        const SERVER: u32 = 101;
        for (owner, mode, private) in [
            (SERVER, 0o600, true),
            (SERVER, 0o400, true),
            (SERVER, 0o640, false),
            (SERVER, 0o604, false),
            (0, 0o640, true),
            (0, 0o660, false),
            (0, 0o644, false),
            (102, 0o600, false),
        ] {
            assert_eq!(is_private(owner, 0o100_000 | mode, SERVER), private, "{owner} {mode:o}");
        }
    }
}
