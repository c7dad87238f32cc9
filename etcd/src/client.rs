//! etcd's JSON API over HTTP ("gRPC gateway", /v3/…), as far as leases need it. 64-bit integers are
//! strings there, keys and values base64.
//!
//! Blocking, without threads: the signals of a server's process are not for a thread to catch. So
//! the system resolves host names in its own time; the rest of a call has a limit.

use super::access::{self, BadSetting, Login};
use crate::settings::Etcd;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use std::time::Duration;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout, time};
use ureq::{Agent, http::Uri};

/// More than 1024 records of each kind take.
const BODY_MAX: u64 = 64 << 20;
const CONNECT_MAX: Duration = Duration::from_secs(1);
const CALL_MAX: Duration = Duration::from_secs(3);
const CALL_MIN: Duration = Duration::from_secs(1);

pub struct Client {
    agent: Agent,
    endpoints: Vec<String>,
    /// The endpoint that answered last.
    current: usize,
    login: Option<Login>,
    token: Option<String>,
    /// Whether to give up before the next endpoint is asked.
    stop: fn() -> bool,
}

/// Why a call failed, in words.
#[derive(Debug)]
pub enum Failure {
    /// etcd didn't answer, or not as it should.
    Etcd(String),
    /// A setting, or a file that it names, keeps it from being asked.
    Setting(BadSetting),
}

/// A key and its value, the revision at which it was last changed, and its lease or 0.
pub struct Entry {
    pub key: String,
    pub value: String,
    pub revision: i64,
    pub lease: i64,
}

/// Changes that are carried out together, if all conditions hold.
#[derive(Default)]
pub struct Transaction {
    conditions: Vec<Value>,
    changes: Vec<Value>,
}

impl Transaction {
    /// If the key is as it was at this revision; 0: absent.
    pub fn unchanged(mut self, key: &str, revision: i64) -> Self {
        self.conditions.push(json!({
            "key": encode(key.as_bytes()), "target": "MOD", "mod_revision": revision.to_string(),
        }));
        self
    }

    /// If the key is attached to this lease.
    pub fn leased(mut self, key: &str, lease: i64) -> Self {
        self.conditions.push(json!({
            "key": encode(key.as_bytes()), "target": "LEASE", "lease": lease.to_string(),
        }));
        self
    }

    /// Stores a value; with a lease, until that runs out.
    pub fn put(mut self, key: &str, value: String, lease: Option<i64>) -> Self {
        self.changes.push(json!({ "request_put": {
            "key": encode(key.as_bytes()), "value": encode(value.as_bytes()),
            "lease": lease.unwrap_or(0).to_string(),
        }}));
        self
    }

    pub fn delete(mut self, key: &str) -> Self {
        self.changes.push(json!({ "request_delete_range": { "key": encode(key.as_bytes()) } }));
        self
    }
}

impl Client {
    pub fn new(settings: &Etcd, stop: fn() -> bool) -> Result<Self, BadSetting> {
        let endpoints = access::endpoints(settings);
        let limit = Duration::from_secs(settings.lease as u64) / 5;
        let config = Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(0)
            .timeout_connect(Some(CONNECT_MAX))
            .timeout_global(Some(limit.clamp(CALL_MIN, CALL_MAX)))
            .tls_config(access::tls(settings)?)
            .build();
        Ok(Self {
            agent: Agent::with_parts(config, DefaultConnector::new(), ThreadlessResolver),
            login: Login::new(settings, &endpoints)?,
            endpoints,
            current: 0,
            token: None,
            stop,
        })
    }

    /// All keys that begin with the prefix, as of one revision.
    pub fn read(&mut self, prefix: &str) -> Result<Vec<Entry>, Failure> {
        // To etcd a key of one zero byte is the least, and such an end has no key after it.
        let key = if prefix.is_empty() { b"\0" } else { prefix.as_bytes() };
        let answer = self.call(
            "/v3/kv/range",
            json!({ "key": encode(key), "range_end": encode(&end(prefix)) }),
        )?;
        let entries = answer["kvs"].as_array().map_or(&[][..], Vec::as_slice);
        entries.iter().map(entry).collect()
    }

    /// Returns the revision of the changes, None if a condition didn't hold. After a failure they may be
    /// made later still: so the conditions must be such that no newer ones are undone by that.
    pub fn transact(&mut self, transaction: Transaction) -> Result<Option<i64>, Failure> {
        let Transaction { conditions, changes } = transaction;
        let answer =
            self.call("/v3/kv/txn", json!({ "compare": conditions, "success": changes }))?;
        let revision = integer(&answer["header"]["revision"]);
        let revision = revision.ok_or_else(|| unexpected("a transaction without revision"))?;
        Ok((answer["succeeded"] == true).then_some(revision))
    }

    /// A new lease of so many seconds.
    pub fn grant(&mut self, seconds: i64) -> Result<i64, Failure> {
        let answer = self.call("/v3/lease/grant", json!({ "TTL": seconds }))?;
        integer(&answer["ID"]).ok_or_else(|| unexpected("a lease without ID"))
    }

    /// Renews a lease; false if it has run out.
    pub fn keep_alive(&mut self, lease: i64) -> Result<bool, Failure> {
        let answer = self.call("/v3/lease/keepalive", json!({ "ID": lease }))?;
        Ok(integer(&answer["result"]["TTL"]).is_some_and(|ttl| ttl > 0))
    }

    /// Ends a lease; the keys attached to it go.
    pub fn revoke(&mut self, lease: i64) -> Result<(), Failure> {
        self.call("/v3/lease/revoke", json!({ "ID": lease })).map(drop)
    }

    /// Asks the endpoints in turn, beginning with the one that answered last.
    fn call(&mut self, path: &str, body: Value) -> Result<Value, Failure> {
        let mut failure = Failure::Etcd("no endpoint is set".into());
        for turn in 0..self.endpoints.len() {
            if turn > 0 && (self.stop)() {
                break;
            }
            let at = (self.current + turn) % self.endpoints.len();
            match self.call_endpoint(at, path, &body) {
                Ok(answer) => {
                    self.current = at;
                    return Ok(answer);
                }
                Err(Failed { failure: failed, elsewhere }) => {
                    failure = failed;
                    if !elsewhere {
                        break;
                    }
                }
            }
        }
        Err(failure)
    }

    /// Asks one endpoint; where it doesn't accept the token any more, once again with a new one.
    fn call_endpoint(&mut self, at: usize, path: &str, body: &Value) -> Result<Value, Failed> {
        for _ in 0..2 {
            if let (None, Some(login)) = (&self.token, &self.login) {
                let password = login
                    .password()
                    .map_err(|bad| Failed { failure: Failure::Setting(bad), elsewhere: false })?;
                let login = json!({ "name": login.user, "password": password });
                let answer = self.post(at, "/v3/auth/authenticate", &login)?;
                self.token = answer.done(&self.endpoints[at])?["token"].as_str().map(Into::into);
            }
            let answer = self.post(at, path, body)?;
            if self.token.is_none() || !answer.wants_login() {
                return answer.done(&self.endpoints[at]);
            }
            self.token = None;
        }
        Err(Failed { failure: unexpected("a new token is not accepted"), elsewhere: true })
    }

    fn post(&self, at: usize, path: &str, body: &Value) -> Result<Answer, Failed> {
        let endpoint = &self.endpoints[at];
        let mut request =
            self.agent.post(format!("{endpoint}{path}")).content_type("application/json");
        if let Some(token) = &self.token {
            request = request.header("Authorization", token);
        }
        let failed = |error: ureq::Error| Failed {
            failure: Failure::Etcd(format!("{endpoint}: {}", words(error))),
            elsewhere: true,
        };
        let mut response = request.send(body.to_string()).map_err(failed)?;
        let status = response.status().as_u16();
        let text =
            response.body_mut().with_config().limit(BODY_MAX).read_to_vec().map_err(failed)?;
        // What is no JSON is a message, of etcd or of a proxy.
        let body = serde_json::from_slice(&text)
            .unwrap_or_else(|_| json!({ "message": first_line(&String::from_utf8_lossy(&text)) }));
        Ok(Answer { status, body })
    }
}

/// A failed attempt, and whether another endpoint may do better.
struct Failed {
    failure: Failure,
    elsewhere: bool,
}

struct Answer {
    status: u16,
    body: Value,
}

impl Answer {
    /// Whether the token has expired or was made before a change of etcd's users.
    fn wants_login(&self) -> bool {
        /// As etcd 3.4 says it, and as 3.5 does.
        const OLD: [&str; 2] = ["revision in header is old", "revision of auth store is old"];
        self.status == 401
            || self.status == 400 && OLD.iter().any(|old| self.message().contains(old))
    }

    fn message(&self) -> &str {
        [&self.body["message"], &self.body["error"]]
            .into_iter()
            .find_map(Value::as_str)
            .unwrap_or("")
    }

    fn done(self, endpoint: &str) -> Result<Value, Failed> {
        if self.status == 200 && self.body.get("message").is_none() {
            return Ok(self.body);
        }
        let message = first_line(self.message());
        let failure = format!("{endpoint}: HTTP status {} {message}", self.status);
        let failure = Failure::Etcd(failure.trim_end().into());
        // What etcd finds wrong with the request is wrong everywhere. It gives a code with it; a proxy
        // or a server that is no etcd doesn't.
        let is_final = (400..500).contains(&self.status) && self.body.get("code").is_some();
        Err(Failed { failure, elsewhere: !is_final })
    }
}

fn first_line(text: &str) -> String {
    const LENGTH_MAX: usize = 200;
    text.lines().next().unwrap_or("").chars().take(LENGTH_MAX).collect()
}

fn words(error: ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Timeout(_) => "no answer in time".into(),
        error => error.to_string(),
    }
}

fn entry(value: &Value) -> Result<Entry, Failure> {
    let text = |field: &Value| {
        let bytes = BASE64_STANDARD.decode(field.as_str().unwrap_or("")).ok()?;
        String::from_utf8(bytes).ok()
    };
    let key = text(&value["key"]).ok_or_else(|| unexpected("a key that is no text"))?;
    let revision =
        integer(&value["mod_revision"]).ok_or_else(|| unexpected("a key without revision"))?;
    // A value that is no text is no record: whoever needs it says so.
    let lease = integer(&value["lease"]).unwrap_or(0);
    Ok(Entry { key, value: text(&value["value"]).unwrap_or_default(), revision, lease })
}

fn integer(value: &Value) -> Option<i64> {
    value.as_str()?.parse().ok()
}

fn unexpected(what: &str) -> Failure {
    Failure::Etcd(format!("etcd answers with {what}"))
}

fn encode(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The first key after all that begin with the prefix.
fn end(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    match end.last_mut() {
        // No byte of a text is 255.
        Some(last) => *last += 1,
        None => end.push(0),
    }
    end
}

/// Resolves in the calling thread.
#[derive(Debug)]
struct ThreadlessResolver;

impl Resolver for ThreadlessResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        // Without a limit the default one starts no thread.
        let timeout = NextTimeout { after: time::Duration::NotHappening, ..timeout };
        DefaultResolver::default().resolve(uri, config, timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: Value) -> Answer {
        Answer { status, body }
    }

    #[test]
    fn a_prefix_ends_before_the_next_one() {
        assert_eq!(end("pg/"), b"pg0");
        assert_eq!(end("é"), [0xc3, 0xaa]);
        assert_eq!(end(""), [0]);
    }

    #[test]
    fn a_token_is_renewed_when_it_has_expired_or_users_have_changed() {
        assert!(answer(401, json!({ "message": "etcdserver: invalid auth token" })).wants_login());
        let old = json!({ "error": "etcdserver: revision of auth store is old" });
        assert!(answer(400, old).wants_login());
        let old = json!({ "message": "auth: revision in header is old" });
        assert!(answer(400, old).wants_login());
        assert!(!answer(403, json!({ "message": "etcdserver: permission denied" })).wants_login());
    }

    #[test]
    fn what_one_endpoint_refuses_for_good_is_not_asked_of_another() {
        let failed = |status, body| answer(status, body).done("http://a").err().unwrap();
        let words = |failed: &Failed| match &failed.failure {
            Failure::Etcd(words) => words.clone(),
            other => panic!("{other:?}"),
        };
        let denied = json!({ "message": "etcdserver: permission denied", "code": 7 });
        let denied = failed(403, denied);
        assert!(!denied.elsewhere);
        assert_eq!(words(&denied), "http://a: HTTP status 403 etcdserver: permission denied");
        assert!(failed(503, json!({ "error": "no leader" })).elsewhere);
        // A proxy's page.
        for status in [200, 404] {
            let page = failed(status, json!({ "message": "<html>\nÄ" }));
            assert!(page.elsewhere);
            assert_eq!(words(&page), format!("http://a: HTTP status {status} <html>"));
        }
    }
}
