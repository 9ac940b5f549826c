//! Renames imports and closures in the WASM module of a page and in the JavaScript of wasm-bindgen
//! (the glue), whose names end in hashes that do not compress. Also strips comments.
//!
//! `bundle` calls it after wasm-bindgen. Absent: games, changes to code or to constants other than
//! names of source files.

use std::collections::BTreeMap;
use std::path::Path;

/// Section of a module's imports.
const IMPORTS: u8 = 2;
/// Section of a module's exports.
const EXPORTS: u8 = 7;
/// Section of a module's constants.
const DATA: u8 = 11;
/// Beginnings of paths of source files in a module. They locate panics, which no page shows.
const SOURCES: [&[u8]; 7] = [
    b"/rustc/",
    b"/rust/deps/",
    b"/.cargo/registry/src/",
    // An installed standard library has these paths instead of `/rustc/`.
    b"/.rustup/toolchains/",
    b"core/gaggle",
    b"games/",
    b"shell/",
];
/// Part of the name of every closure in module and glue.
const CLOSURE: &str = "__closures__";
/// Longest path of a source file that is looked for.
const SOURCE_BYTES_MAX: usize = 200;
/// Kind of custom sections, which only describe the module.
const CUSTOM: u8 = 0;

/// Shortens names in `NAME.js` and `NAME_bg.wasm` of a folder.
///
/// # Errors
/// If a file cannot be read or written, or is not in the form that wasm-bindgen writes.
pub(crate) fn shorten(folder: &Path, name: &str) -> Result<(), String> {
    let (glue, module) = (folder.join(format!("{name}.js")), folder.join(format!("{name}_bg.wasm")));
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let bytes = std::fs::read(&module).map_err(failed)?;
    let text = std::fs::read_to_string(&glue).map_err(failed)?;
    let mut names = BTreeMap::new();
    let bytes = crate::order::reorder(&bytes).and_then(|bytes| shorten_module(&bytes, &mut names));
    let bytes = bytes.ok_or_else(|| format!("{name} is no module"))?;
    let text = shorten_glue(&text, &names)?;
    std::fs::write(module, bytes).map_err(failed)?;
    std::fs::write(glue, text).map_err(failed)
}

/// Removes custom sections and shortens names of imports and closures, which are added to `names`.
fn shorten_module(bytes: &[u8], names: &mut BTreeMap<String, String>) -> Option<Vec<u8>> {
    let (head, mut rest) = bytes.split_at_checked(8)?;
    let mut out = head.to_vec();
    while let Some((&kind, after)) = rest.split_first() {
        let mut reader = Reader(after);
        let section = reader.bytes()?;
        rest = reader.0;
        let section = match kind {
            CUSTOM => continue,
            IMPORTS => shorten_imports(section, names)?,
            EXPORTS => shorten_exports(section, names)?,
            DATA => blank_sources(section),
            _ => section.to_vec(),
        };
        out.push(kind);
        write_bytes(&mut out, &section);
    }
    Some(out)
}

/// Blanks paths of source files in constants. Their length stays, so all addresses stay valid.
fn blank_sources(section: &[u8]) -> Vec<u8> {
    let mut out = section.to_vec();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(byte);
    let mut from = 0;
    while let Some(found) = out[from..].windows(3).position(|three| three == b".rs") {
        let end = from + found + 3;
        let earliest = from.max(end.saturating_sub(SOURCE_BYTES_MAX));
        let name = out[earliest..end].iter().rev().take_while(|byte| is_name(byte)).count();
        let start =
            (end - name..end).find(|at| SOURCES.iter().any(|source| out[*at..end].starts_with(source)));
        if let Some(start) = start.filter(|start| out[*start..end].windows(5).any(|five| five == b"/src/")) {
            out[start..end].fill(b' ');
        }
        from = end;
    }
    out
}

/// Shortens the names of exported closures, which end in a hash.
fn shorten_exports(section: &[u8], names: &mut BTreeMap<String, String>) -> Option<Vec<u8>> {
    let mut reader = Reader(section);
    let count = reader.number()?;
    let mut out = Vec::new();
    write_number(&mut out, count);
    for _ in 0..count {
        let name = String::from_utf8(reader.bytes()?.to_vec()).ok()?;
        if name.contains(CLOSURE) {
            let next = format!("i{}", names.len());
            write_bytes(&mut out, names.entry(name).or_insert(next).as_bytes());
        } else {
            write_bytes(&mut out, name.as_bytes());
        }
        let (&kind, after) = reader.0.split_first()?;
        reader.0 = after;
        out.push(kind);
        write_number(&mut out, reader.number()?);
    }
    reader.0.is_empty().then_some(out)
}

fn shorten_imports(section: &[u8], names: &mut BTreeMap<String, String>) -> Option<Vec<u8>> {
    let mut reader = Reader(section);
    let count = reader.number()?;
    let mut out = Vec::new();
    write_number(&mut out, count);
    for _ in 0..count {
        for _ in 0..2 {
            let name = String::from_utf8(reader.bytes()?.to_vec()).ok()?;
            let next = format!("i{}", names.len());
            let short = names.entry(name).or_insert(next);
            write_bytes(&mut out, short.as_bytes());
        }
        // The glue provides only functions: no memories, tables or globals.
        let (&kind, after) = reader.0.split_first().filter(|(kind, _)| **kind == 0)?;
        reader.0 = after;
        out.push(kind);
        write_number(&mut out, reader.number()?);
    }
    reader.0.is_empty().then_some(out)
}

/// Applies the short names to the glue and strips comments and indents.
fn shorten_glue(text: &str, names: &BTreeMap<String, String>) -> Result<String, String> {
    let mut text = text.to_string();
    let mut found = 0;
    // Closure names occur anywhere in the glue. Longer ones go first, because some are prefixes.
    for (name, short) in names.iter().rev().filter(|(name, _)| name.contains(CLOSURE)) {
        found += usize::from(text.contains(name.as_str()));
        text = text.replace(name.as_str(), short);
    }
    // Inside a multi-line template literal, indentation is content.
    let is_plain = text.lines().all(|line| line.matches('`').count() % 2 == 0);
    let mut out = String::new();
    for line in text.lines() {
        let bare = line.trim_start();
        let is_comment = bare.starts_with("/*") || bare.starts_with("* ") || bare == "*" || bare == "*/";
        if is_plain && (bare.is_empty() || is_comment || bare.starts_with("//")) {
            continue;
        }
        let key = bare.split_once(": ").map_or("", |(key, _)| key).trim_matches('"');
        match names.get(key) {
            Some(short) => {
                found += 1;
                out.push_str(short);
                out.push_str(&bare[bare.find(": ").unwrap_or(0)..]);
            }
            None => out.push_str(if is_plain { bare } else { line }),
        }
        out.push('\n');
    }
    if found == names.len() {
        return Ok(out);
    }
    Err(format!("the glue has {found} of {} names the module asks for", names.len()))
}

/// Reader of a section.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads a LEB128 number, seven bits per byte.
    fn number(&mut self) -> Option<u32> {
        let mut value = 0_u32;
        for shift in (0..32).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Reads a length and that many bytes.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (bytes, rest) = self.0.split_at_checked(length as usize)?;
        self.0 = rest;
        Some(bytes)
    }
}

fn write_number(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_number(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with two imports, a producers section, and a code section.
    fn module() -> Vec<u8> {
        let mut imports = vec![2];
        for name in ["call_0123", "drop_4567"] {
            write_bytes(&mut imports, b"./page_bg.js");
            write_bytes(&mut imports, name.as_bytes());
            imports.extend([0, 5]);
        }
        let mut module = b"\0asm\x01\0\0\0".to_vec();
        for (kind, section) in [(IMPORTS, &imports[..]), (CUSTOM, b"\x04made"), (10, &[7; 300])] {
            module.push(kind);
            write_bytes(&mut module, section);
        }
        module
    }

    #[test]
    fn names_of_sources_are_blanked_at_same_length() {
        let data = b"Lost.rs core/gaggle-kit/src/few.rs/rustc/00/library/core/src/cell.rsA word, games/ and more\x01/a.rs\x02/.rustup/toolchains/1/src/b.rs";
        let blank = blank_sources(data);
        let (few, cell, other) = (" ".repeat(26), " ".repeat(34), " ".repeat(30));
        let expected = format!("Lost.rs {few}{cell}A word, games/ and more\x01/a.rs\x02{other}");
        assert_eq!(String::from_utf8(blank), Ok(expected));
    }

    #[test]
    fn closure_names_are_shortened_in_module_and_glue() {
        let mut section = vec![3];
        let long = "x__convert__closures___h0123";
        for name in [long, &format!("{long}_5"), "memory"] {
            write_bytes(&mut section, name.as_bytes());
            section.extend([0, 9]);
        }
        let mut names = BTreeMap::new();
        let short = shorten_exports(&section, &mut names).expect("exports");
        let mut expected = vec![3];
        for name in ["i0", "i1", "memory"] {
            write_bytes(&mut expected, name.as_bytes());
            expected.extend([0, 9]);
        }
        assert_eq!(short, expected);
        let glue = format!("make({long});\nfunction {long}_5(a) {{\nwasm.{long}_5(a);\n}}\n");
        let glue = shorten_glue(&glue, &names).expect("the glue has both names");
        assert_eq!(glue, "make(i0);\nfunction i1(a) {\nwasm.i1(a);\n}\n");
        assert!(shorten_glue(&format!("make({long}_5)"), &names).is_err(), "a missing name was accepted");
    }

    #[test]
    fn module_and_glue_get_same_short_names() {
        let mut names = BTreeMap::new();
        let short = shorten_module(&module(), &mut names).expect("a module");
        assert!(short.len() + 40 < module().len(), "{} bytes", short.len());
        assert!(short.ends_with(&[7; 300]), "code stays as it is");
        let glue = "/**\n * Words.\n */\nconst all = {\n    call_0123: function(arg0) {\n        return `a: ${arg0}`;\n    \
                    },\n    drop_4567: other,\n};\nreturn {\n    \"./page_bg.js\": all,\n};\n";
        let glue = shorten_glue(glue, &names).expect("it has all names");
        assert_eq!(
            glue,
            "const all = {\ni1: function(arg0) {\nreturn `a: ${arg0}`;\n},\ni2: other,\n};\nreturn {\ni0: all,\n};\n"
        );
        assert!(shorten_glue("nothing of it", &names).is_err(), "a missing name was accepted");
    }

    #[test]
    fn malformed_module_is_none() {
        let whole = module();
        for cut in (0..whole.len()).filter(|cut| *cut != 8) {
            let read = shorten_module(&whole[..cut], &mut BTreeMap::new());
            assert!(read.is_none_or(|short| short.len() < cut), "cut after {cut} bytes");
        }
    }
}
