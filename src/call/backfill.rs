//! One backfill of a table at a time.
#![allow(unsafe_code)]

use super::args::Args;
use crate::error::Error;
use pgrx::pg_sys::{self, AclMaskHow, AclResult, LockTagType};
use snowid_base::guard::guarded;

/// snowid_internal.lock_backfill(relation): waits until no other transaction backfills the table. The lock is of a
/// kind that no other SQL function takes, and of those who may not update the table nobody gets at it.
pub fn lock_backfill(args: Args) -> Result<bool, Error> {
    let table = args.oid(0);
    // SAFETY: called in a transaction, under a guard; the tag is copied. The lock ends with the
    // transaction.
    guarded(|| unsafe {
        let (user, right) = (pg_sys::GetUserId(), pg_sys::ACL_UPDATE as pg_sys::AclMode);
        let any = AclMaskHow::ACLMASK_ANY;
        if pg_sys::pg_class_aclcheck(table, user, right) != AclResult::ACLCHECK_OK
            && pg_sys::pg_attribute_aclcheck_all(table, user, right, any) != AclResult::ACLCHECK_OK
        {
            let (denied, kind) = (AclResult::ACLCHECK_NO_PRIV, pg_sys::ObjectType::OBJECT_TABLE);
            pg_sys::aclcheck_error(denied, kind, pg_sys::get_rel_name(table));
        }
        let tag = pg_sys::LOCKTAG {
            locktag_field1: pg_sys::MyDatabaseId.to_u32(),
            locktag_field2: pg_sys::RelationRelationId.to_u32(),
            locktag_field3: table.to_u32(),
            locktag_field4: 0,
            locktag_type: LockTagType::LOCKTAG_USERLOCK as u8,
            locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
        };
        pg_sys::LockAcquire(&tag, pg_sys::ExclusiveLock as pg_sys::LOCKMODE, false, false);
    });
    Ok(true)
}
