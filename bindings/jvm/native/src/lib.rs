//! The native methods of `dev.annals.Native`: each reads its arguments, does its work in safe code, and turns errors
//! and panics into exceptions.
#![allow(unsafe_code, reason = "the virtual machine finds native methods by their names")]

mod argument;
#[doc(hidden)]
pub mod changes;
mod exchanges;
#[doc(hidden)]
pub mod handles;
#[doc(hidden)]
pub mod opened;
mod packed;
mod views;

use std::sync::Arc;

use annals::{Error, ErrorKind};
use handles::Thing;
use jni::objects::{JByteArray, JClass, JString, JThrowable, JValue};
use jni::sys::{jboolean, jbyteArray, jint, jlong};
use jni::{Env, EnvUnowned, Outcome, jni_sig, jni_str};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// An error of the engine, or of the virtual machine.
enum Failure {
    Engine(Error),
    Machine(jni::errors::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Engine(error)
    }
}

impl From<jni::errors::Error> for Failure {
    fn from(error: jni::errors::Error) -> Failure {
        Failure::Machine(error)
    }
}

type Done<T> = Result<T, Failure>;

/// Runs the work of a native method. After an error, or a panic, an exception is pending, and `otherwise` is returned.
fn run<'local, T>(
    mut env: EnvUnowned<'local>,
    otherwise: T,
    work: impl FnOnce(&mut Env<'local>) -> Done<T>,
) -> T {
    let error = match env.with_env(work).into_outcome() {
        Outcome::Ok(done) => return done,
        Outcome::Err(Failure::Engine(error)) => error,
        // An exception of the virtual machine is pending already, or this one says what was wrong.
        Outcome::Err(Failure::Machine(error)) => {
            Error::new(ErrorKind::InvalidArgument, format!("native call: {error}"))
        }
        Outcome::Panic(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown reason");
            let text = format!("the native library panicked: {text}; close the repository, and report this");
            Error::new(ErrorKind::Unavailable, text)
        }
    };
    // A successful throw is an error of `jni`, too: an exception is pending. If this one cannot be made, another is.
    let _ = env.with_env(|env| throw(env, &error)).into_outcome();
    otherwise
}

fn throw(env: &mut Env<'_>, error: &Error) -> jni::errors::Result<()> {
    if env.exception_check() {
        return Ok(());
    }
    let details: serde_json::Map<String, serde_json::Value> =
        error.context().iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
    let kind = JString::new(env, error.kind().name())?;
    let text = JString::new(env, error.to_string())?;
    let details = JString::new(env, serde_json::Value::Object(details).to_string())?;
    let arguments = [JValue::from(&kind), JValue::from(&text), JValue::from(&details)];
    let signature = jni_sig!("(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)V");
    let exception = env.new_object(jni_str!("dev/annals/AnnalsException"), signature, &arguments)?;
    let exception = env.cast_local::<JThrowable>(exception)?;
    env.throw(exception)
}

fn bytes(env: &Env<'_>, array: &JByteArray<'_>) -> Done<Vec<u8>> {
    Ok(env.convert_byte_array(array)?)
}

fn optional(env: &Env<'_>, array: &JByteArray<'_>) -> Done<Option<Vec<u8>>> {
    if array.is_null() { Ok(None) } else { bytes(env, array).map(Some) }
}

fn array(env: &mut Env<'_>, bytes: &[u8]) -> Done<jbyteArray> {
    Ok(env.byte_array_from_slice(bytes)?.into_raw())
}

/// `long open(byte[] settings)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_open<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    settings: JByteArray<'l>,
) -> jlong {
    run(env, 0, |env| {
        let opened = opened::Opened::open(&bytes(env, &settings)?)?;
        Ok(handles::add(Thing::Repository(Arc::new(opened))))
    })
}

/// `void close(long handle)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_close<'l>(env: EnvUnowned<'l>, _: JClass<'l>, handle: jlong) {
    run(env, (), |_| match handles::remove(handle) {
        Some(Thing::Repository(opened)) => Ok(opened.close()?),
        Some(Thing::Exchange(_, closer)) => {
            closer.close();
            Ok(())
        }
        _ => Ok(()),
    });
}

/// `byte[] exchange(long repository, byte[] head, byte[] body)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_exchange<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    repository: jlong,
    head: JByteArray<'l>,
    body: JByteArray<'l>,
) -> jbyteArray {
    run(env, std::ptr::null_mut(), |env| {
        let answer = exchanges::exchange(repository, &bytes(env, &head)?, optional(env, &body)?)?;
        array(env, &answer)
    })
}

/// `long send(long repository, byte[] head, boolean hasBody)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_send<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    repository: jlong,
    head: JByteArray<'l>,
    has_body: jboolean,
) -> jlong {
    run(env, 0, |env| Ok(exchanges::send(repository, &bytes(env, &head)?, has_body)?))
}

/// `void write(long exchange, byte[] part, int length)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_write<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    exchange: jlong,
    part: JByteArray<'l>,
    length: jint,
) {
    run(env, (), |env| {
        let mut part = bytes(env, &part)?;
        part.truncate(usize::try_from(length).unwrap_or(0));
        Ok(exchanges::write(exchange, part)?)
    });
}

/// `void finish(long exchange)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_finish<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    exchange: jlong,
) {
    run(env, (), |_| Ok(exchanges::finish(exchange)?));
}

/// `byte[] head(long exchange)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_head<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    exchange: jlong,
) -> jbyteArray {
    run(env, std::ptr::null_mut(), |env| {
        let head = exchanges::head(exchange)?;
        array(env, &head)
    })
}

/// `int read(long exchange, byte[] into, int offset, int length)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_read__J_3BII<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    exchange: jlong,
    into: JByteArray<'l>,
    offset: jint,
    length: jint,
) -> jint {
    run(env, -1, |env| {
        let length = usize::try_from(length).unwrap_or(0);
        if length == 0 {
            return Ok(0);
        }
        let Some(part) = exchanges::read(exchange, length)? else { return Ok(-1) };
        let part: Vec<i8> = part.into_iter().map(u8::cast_signed).collect();
        into.set_region(env, offset, &part)?;
        Ok(jint::try_from(part.len()).unwrap_or(jint::MAX))
    })
}

/// `long snapshot(long of, byte[] asOf)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_snapshot<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    of: jlong,
    as_of: JByteArray<'l>,
) -> jlong {
    run(env, 0, |env| Ok(views::snapshot(of, optional(env, &as_of)?.as_deref())?))
}

/// `byte[] get(long view, int kind, byte[] id)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_get<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    view: jlong,
    kind: jint,
    id: JByteArray<'l>,
) -> jbyteArray {
    run(env, std::ptr::null_mut(), |env| match views::get(view, kind, &bytes(env, &id)?)? {
        Some(element) => array(env, &element),
        None => Ok(std::ptr::null_mut()),
    })
}

/// `byte[] read(long view, int operation, byte[] request)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_read__JI_3B<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    view: jlong,
    operation: jint,
    request: JByteArray<'l>,
) -> jbyteArray {
    run(env, std::ptr::null_mut(), |env| {
        let answer = views::read(view, operation, &bytes(env, &request)?)?;
        array(env, &answer)
    })
}

/// `long begin(long repository, byte[] settings)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_begin<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    repository: jlong,
    settings: JByteArray<'l>,
) -> jlong {
    run(env, 0, |env| Ok(changes::begin(repository, &bytes(env, &settings)?)?))
}

/// `byte[] apply(long transaction, int operation, byte[] request)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_apply<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    transaction: jlong,
    operation: jint,
    request: JByteArray<'l>,
) -> jbyteArray {
    run(env, std::ptr::null_mut(), |env| {
        let answer = changes::apply(transaction, operation, &bytes(env, &request)?)?;
        array(env, &answer)
    })
}

/// `byte[] commit(long transaction)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_annals_Native_commit<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    transaction: jlong,
) -> jbyteArray {
    run(env, std::ptr::null_mut(), |env| {
        let receipt = changes::commit(transaction)?;
        array(env, &receipt)
    })
}
