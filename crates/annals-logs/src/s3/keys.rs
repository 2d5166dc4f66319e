//! The keys with which requests are signed: from the environment, or from a file as Amazon's own programs have it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use annals::{Error, ErrorKind, Result};
use object_store::aws::AwsCredential;

use super::s3_place::S3Place;

/// Units: bytes of a file of credentials.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// The section of a file that is used if none is named.
const DEFAULT_PROFILE: &str = "default";

/// A variable of the environment.
pub(super) type Variable<'v> = &'v dyn Fn(&str) -> Option<OsString>;

fn refused(text: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}

/// The key as it is now. It is read anew now and then, so that it may change.
pub(super) fn credential(place: &S3Place, variable: Variable<'_>) -> Result<AwsCredential> {
    let text = |name: &str| -> Result<Option<String>> {
        let other = || refused(format!("{name}: expected UTF-8, found other bytes; use credentials-file"));
        variable(name).map(|value| value.into_string().map_err(|_| other())).transpose()
    };
    let is_named = place.credentials_file.is_some() || place.profile.is_some();
    if !is_named {
        match (text("AWS_ACCESS_KEY_ID")?, text("AWS_SECRET_ACCESS_KEY")?) {
            (Some(key_id), Some(secret_key)) => {
                return Ok(AwsCredential { key_id, secret_key, token: text("AWS_SESSION_TOKEN")? });
            }
            (None, None) => {}
            _ => {
                let text = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: expected both or none, found one; set the other";
                return Err(refused(text.to_owned()));
            }
        }
    }
    let own = || variable("HOME").map(|home| Path::new(&home).join(".aws/credentials"));
    let shared = || variable("AWS_SHARED_CREDENTIALS_FILE").map(PathBuf::from);
    let Some(path) = place.credentials_file.clone().or_else(shared).or_else(own) else {
        return Err(no_credentials());
    };
    if !is_named && !path.exists() {
        return Err(no_credentials());
    }
    let profile = match &place.profile {
        Some(profile) => profile.clone(),
        None => text("AWS_PROFILE")?.unwrap_or_else(|| DEFAULT_PROFILE.to_owned()),
    };
    of_file(&path, &profile)
}

fn no_credentials() -> Error {
    refused(
        "s3: expected a key, found none; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give credentials-file=PATH"
            .to_owned(),
    )
}

fn of_file(path: &Path, profile: &str) -> Result<AwsCredential> {
    let unreadable = |found: String| {
        let path = path.display();
        refused(format!("credentials-file: expected a readable file at {path}, found: {found}; correct it"))
    };
    let data = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if !data.is_file() || data.len() > FILE_BYTES_MAX {
        return Err(unreadable(format!("no file, or one of more than {FILE_BYTES_MAX} bytes")));
    }
    check_rights(path, &data)?;
    // The error of bytes that are no text does not show them.
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let (mut is_section, mut fields) = (false, [None, None, None]);
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            is_section = name.trim() == profile;
        } else if let (true, Some((name, value))) = (is_section, line.split_once('=')) {
            let names = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"];
            if let Some(field) = names.iter().zip(&mut fields).find(|(known, _)| **known == name.trim()) {
                *field.1 = Some(value.trim().to_owned());
            }
        }
    }
    match fields {
        [Some(key_id), Some(secret_key), token] => Ok(AwsCredential { key_id, secret_key, token }),
        _ => {
            let path = path.display();
            Err(refused(format!(
                "{path}: expected aws_access_key_id and aws_secret_access_key in the section [{profile}], found not both; \
                 add them, or name another profile"
            )))
        }
    }
}

/// A file of keys that others can read is refused, as that of a password is.
#[cfg(unix)]
fn check_rights(path: &Path, data: &std::fs::Metadata) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if data.permissions().mode() & 0o077 != 0 {
        let text =
            format!("{}: expected a file that only its owner can read; run: chmod 600 {0}", path.display());
        return Err(refused(text));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_rights(_: &Path, _: &std::fs::Metadata) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(place: &str, variables: &[(&str, &str)]) -> Result<(String, String, Option<String>)> {
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        let found = credential(&S3Place::parse(place).unwrap(), &variable)?;
        Ok((found.key_id, found.secret_key, found.token))
    }

    fn own(key: &str, secret: &str, token: Option<&str>) -> (String, String, Option<String>) {
        (key.to_owned(), secret.to_owned(), token.map(str::to_owned))
    }

    #[test]
    fn keys_come_from_the_environment_or_from_a_file() {
        let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_SESSION_TOKEN", "c")];
        assert_eq!(found("s3://books", &keys).unwrap(), own("a", "b", Some("c")));
        assert!(found("s3://books", &keys[..1]).unwrap_err().to_string().contains("expected both"));
        assert!(found("s3://books", &[]).unwrap_err().to_string().contains("expected a key, found none"));
        assert!(found("s3://books", &[("HOME", "missing")]).is_err());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials");
        let text = "[default]\naws_access_key_id = d\naws_secret_access_key=e=\n[lab]\naws_access_key_id=f\n";
        std::fs::write(&file, text).unwrap();
        let place = format!("s3://books?credentials-file={}", file.display());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
            let error = found(&place, &keys).unwrap_err().to_string();
            assert!(error.contains("chmod 600") && !error.contains("e="), "{error}");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        assert_eq!(found(&place, &keys).unwrap(), own("d", "e=", None), "the place names it");
        let shared = [("AWS_SHARED_CREDENTIALS_FILE", file.to_str().unwrap())];
        assert_eq!(found("s3://books", &shared).unwrap(), own("d", "e=", None));
        let lab = found("s3://books?profile=lab", &shared).unwrap_err().to_string();
        assert!(lab.contains("[lab]") && !lab.contains("=f"), "{lab}");
        assert!(found("s3://books?credentials-file=missing", &keys).is_err());
    }
}
