//! The planner's expression trees: looking at nodes and making new ones.
#![allow(unsafe_code)]

use pgrx::pg_sys::{self, Datum, NodeTag, Oid, ffi::pg_guard_ffi_boundary};
use snowid_base::guard::guarded;
use std::mem::size_of;
use std::ptr::{self, NonNull};

/// An expression node of the query that is being planned. It lives in the planner's memory context,
/// as what is made here does, and all of it lives longer than a call of the planner's hook.
#[derive(Clone, Copy)]
pub struct Expr(NonNull<pg_sys::Node>);

/// The operators of bigint, by their strategy in its btree family.
#[derive(Clone, Copy)]
#[repr(i16)]
pub enum Operator {
    Less = pg_sys::BTLessStrategyNumber as i16,
    LessOrEqual = pg_sys::BTLessEqualStrategyNumber as i16,
    GreaterOrEqual = pg_sys::BTGreaterEqualStrategyNumber as i16,
    Greater = pg_sys::BTGreaterStrategyNumber as i16,
}

impl Expr {
    /// # Safety
    /// Null, or a node of the query that is being planned.
    pub unsafe fn new<T>(node: *mut T) -> Option<Self> {
        NonNull::new(node.cast()).map(Self)
    }

    pub fn as_ptr<T>(self) -> *mut T {
        self.0.as_ptr().cast()
    }

    /// The node as its C struct, if it has that tag.
    fn cast<T>(self, tag: NodeTag) -> Option<&'static T> {
        // SAFETY: a node begins with its tag, which says what struct it is; it outlives our use.
        unsafe { (self.0.as_ref().type_ == tag).then(|| self.0.cast().as_ref()) }
    }

    /// An operator with two operands.
    pub fn operator(self) -> Option<(Oid, Expr, Expr)> {
        let op: &pg_sys::OpExpr = self.cast(NodeTag::T_OpExpr)?;
        match items(op.args)[..] {
            [left, right] => Some((op.opno, left, right)),
            _ => None,
        }
    }

    /// A function call.
    pub fn call(self) -> Option<(Oid, Vec<Expr>)> {
        let call: &pg_sys::FuncExpr = self.cast(NodeTag::T_FuncExpr)?;
        Some((call.funcid, items(call.args)))
    }

    /// The operands of an OR, or of an AND.
    pub fn operands(self, boolop: pg_sys::BoolExprType::Type) -> Option<Vec<Expr>> {
        let bool: &pg_sys::BoolExpr = self.cast(NodeTag::T_BoolExpr)?;
        (bool.boolop == boolop).then(|| items(bool.args))
    }

    /// A constant of a type that is passed by value in 64 bits, and not NULL.
    pub fn constant(self, of: Oid) -> Option<i64> {
        let constant: &pg_sys::Const = self.cast(NodeTag::T_Const)?;
        (constant.consttype == of && !constant.constisnull)
            .then(|| constant.constvalue.value() as i64)
    }

    /// The column that this is, whose type may be relabelled, as that of a domain is.
    pub fn column(self) -> Option<&'static pg_sys::Var> {
        let inner = match self.cast::<pg_sys::RelabelType>(NodeTag::T_RelabelType) {
            // SAFETY: its argument is a node.
            Some(relabel) => unsafe { Self::new(relabel.arg)? },
            None => self,
        };
        inner.cast(NodeTag::T_Var)
    }

    /// A copy: the planner changes nodes in place, so two expressions must not share one.
    pub fn copy(self) -> Expr {
        // SAFETY: a valid node.
        made(unsafe { pg_sys::copyObjectImpl(self.as_ptr()) })
    }

    /// The same column as a scan of its table yields it, before outer joins may null it.
    pub fn scanned(self) -> Expr {
        let copy = self.copy();
        #[cfg(not(feature = "pg15"))]
        if let Some(var) = copy.column() {
            // SAFETY: the copy is ours to change.
            unsafe { (*ptr::from_ref(var).cast_mut()).varnullingrels = ptr::null_mut() };
        }
        copy
    }

    pub fn type_oid(self) -> Oid {
        // SAFETY: a valid expression.
        unsafe { pg_sys::exprType(self.as_ptr()) }
    }

    pub fn equals(self, other: Expr) -> bool {
        // SAFETY: valid nodes.
        unsafe { pg_sys::equal(self.as_ptr(), other.as_ptr()) }
    }

    /// Whether it must not be repeated: a second evaluation may yield another value, or would run a
    /// query again.
    pub fn is_unrepeatable(self) -> bool {
        // SAFETY: a valid expression.
        unsafe {
            pg_sys::contain_volatile_functions(self.as_ptr())
                || pg_sys::contain_subplans(self.as_ptr())
        }
    }

    /// Whether a function call in it fulfils the predicate.
    pub fn calls(self, predicate: &mut dyn FnMut(Oid) -> bool) -> bool {
        type Context<'a> = &'a mut dyn FnMut(Oid) -> bool;

        unsafe extern "C-unwind" fn walker(
            node: *mut pg_sys::Node,
            context: *mut core::ffi::c_void,
        ) -> bool {
            // SAFETY: the walker gets null or nodes of a valid tree, and the context given below.
            guarded(|| unsafe {
                let Some(this) = Expr::new(node) else { return false };
                if let Some(call) = this.cast::<pg_sys::FuncExpr>(NodeTag::T_FuncExpr)
                    && (*context.cast::<Context>())(call.funcid)
                {
                    return true;
                }
                pg_sys::expression_tree_walker(node, Some(walker), context)
            })
        }

        let mut context: Context = predicate;
        // SAFETY: the context outlives the walk; an error leaves the walker as it leaves C.
        unsafe {
            pg_guard_ffi_boundary(|| walker(self.as_ptr(), ptr::from_mut(&mut context).cast()))
        }
    }
}

/// `left operator right` for bigints, of copies of both.
pub fn compare(left: Expr, operator: Operator, right: Expr) -> Expr {
    let none = pg_sys::InvalidOid;
    // SAFETY: the family has these operators since ever; the operands are expressions.
    unsafe {
        let (family, of) = (pg_sys::INTEGER_BTREE_FAM_OID, pg_sys::INT8OID);
        let opno = pg_sys::get_opfamily_member(family, of, of, operator as i16);
        let (left, right) = (left.copy().as_ptr(), right.copy().as_ptr());
        let clause = pg_sys::make_opclause(opno, pg_sys::BOOLOID, false, left, right, none, none);
        pg_sys::set_opfuncid(clause.cast());
        made(clause)
    }
}

/// A bigint constant.
pub fn bigint(value: i64) -> Expr {
    let size = size_of::<i64>() as i32;
    // SAFETY: takes values only.
    made(unsafe {
        let none = pg_sys::InvalidOid;
        pg_sys::makeConst(pg_sys::INT8OID, -1, none, size, Datum::from(value), false, true)
    })
}

/// A call of a function without collation, with copies of the arguments.
pub fn call(function: Oid, returns: Oid, args: &[Expr]) -> Expr {
    let args: Vec<Expr> = args.iter().map(|arg| arg.copy()).collect();
    let none = pg_sys::InvalidOid;
    let format = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
    // SAFETY: the function exists, and takes and returns those types.
    made(unsafe { pg_sys::makeFuncExpr(function, returns, list(&args), none, none, format) })
}

pub fn or(operands: &[Expr]) -> Expr {
    combine(pg_sys::BoolExprType::OR_EXPR, operands)
}

/// All of them, of which there is at least one.
pub fn and(operands: &[Expr]) -> Expr {
    match operands {
        &[one] => one,
        _ => combine(pg_sys::BoolExprType::AND_EXPR, operands),
    }
}

fn combine(boolop: pg_sys::BoolExprType::Type, operands: &[Expr]) -> Expr {
    // SAFETY: the operands are boolean expressions.
    made(unsafe { pg_sys::makeBoolExpr(boolop, list(operands), -1) })
}

fn made<T>(node: *mut T) -> Expr {
    Expr(NonNull::new(node.cast()).expect("PostgreSQL makes a node or raises an error"))
}

/// The nodes of a list; none for the empty list, which is null.
pub fn items(list: *mut pg_sys::List) -> Vec<Expr> {
    // SAFETY: null, or a list of nodes of the query that is being planned.
    unsafe {
        let Some(list) = list.as_ref() else { return vec![] };
        (0..list.length as usize)
            .filter_map(|n| Expr::new((*list.elements.add(n)).ptr_value))
            .collect()
    }
}

pub fn list(nodes: &[Expr]) -> *mut pg_sys::List {
    // SAFETY: null is the empty list.
    nodes.iter().fold(ptr::null_mut(), |list, node| unsafe {
        pg_sys::lappend(list, node.as_ptr::<core::ffi::c_void>())
    })
}
