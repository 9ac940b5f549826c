//! Reader of a wasm module's import section: what the module asks its host for.
//!
//! Step `wasm` calls it. The bytes come from our own compiler, so anything unexpected is an error
//! message. Absent: which imports are allowed.

/// One import of a module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) module: String,
    pub(crate) name: String,
}

const IMPORT_SECTION: u8 = 2;

/// Imports of a module, in order.
pub(crate) fn imports(bytes: &[u8]) -> Result<Vec<Import>, String> {
    let mut reader = Reader { bytes };
    if reader.take(8)? != b"\0asm\x01\0\0\0" {
        return Err("not a wasm module of version 1".into());
    }
    while !reader.bytes.is_empty() {
        let id = reader.byte()?;
        let length = reader.number()?;
        let mut section = Reader { bytes: reader.take(length)? };
        if id == IMPORT_SECTION {
            let count = section.number()?;
            return (0..count).map(|_| section.import()).collect();
        }
    }
    Ok(Vec::new())
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (head, tail) = self.bytes.split_at_checked(count).ok_or("the wasm module is cut short")?;
        self.bytes = tail;
        Ok(head)
    }

    fn byte(&mut self) -> Result<u8, String> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// An unsigned 32-bit number in LEB128.
    fn number(&mut self) -> Result<usize, String> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return usize::try_from(value).map_err(|error| error.to_string());
            }
        }
        Err("a number in the wasm module is too long".into())
    }

    fn name(&mut self) -> Result<String, String> {
        let length = self.number()?;
        self.take(length).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    fn import(&mut self) -> Result<Import, String> {
        let import = Import { module: self.name()?, name: self.name()? };
        match self.byte()? {
            0 => drop(self.number()?),
            1 => {
                self.byte()?;
                self.limits()?;
            }
            2 => self.limits()?,
            3 => drop(self.take(2)?),
            4 => {
                self.byte()?;
                self.number()?;
            }
            kind => return Err(format!("an import of unknown kind {kind}")),
        }
        Ok(import)
    }

    fn limits(&mut self) -> Result<(), String> {
        let has_maximum = self.byte()? & 1 == 1;
        self.number()?;
        if has_maximum {
            self.number()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with a type section and imports of one function, one memory and one global.
    const MODULE: &[u8] = b"\0asm\x01\0\0\0\
        \x01\x04\x01\x60\0\0\
        \x02\x21\x03\x03env\x05clock\0\0\x03env\x03mem\x02\x01\x01\x80\x02\x01g\x01h\x03\x7f\0";

    #[test]
    fn imports_are_found_by_module_and_name() {
        let found = imports(MODULE).unwrap();
        let found: Vec<_> =
            found.iter().map(|import| (import.module.as_str(), import.name.as_str())).collect();
        assert_eq!(found, [("env", "clock"), ("env", "mem"), ("g", "h")]);
    }

    #[test]
    fn module_without_imports_has_none() {
        assert_eq!(imports(&MODULE[..14]), Ok(Vec::new()));
    }

    #[test]
    fn truncated_module_is_error() {
        for length in (0..MODULE.len()).filter(|&length| length != 8 && length != 14) {
            assert!(imports(&MODULE[..length]).is_err(), "{length} bytes");
        }
    }
}
