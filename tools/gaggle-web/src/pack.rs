//! Packs a page's files once, so that a server need not do it for every visitor.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// What is worth packing; pictures are packed already.
const ENDINGS: [&str; 6] = ["css", "html", "js", "json", "svg", "wasm"];
/// Brotli's best level takes many times as long for a hundredth.
const BROTLI_LEVEL: u32 = 9;

/// Writes `NAME.br` and `NAME.gz` beside every file of `directory` that is worth it.
///
/// # Errors
/// If a file cannot be read or written.
pub fn pack(directory: &Path) -> Result<(), String> {
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !ENDINGS.contains(&ending) {
            continue;
        }
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let bytes = std::fs::read(&path).map_err(failed)?;
        for (ending, packed) in [("br", brotli(&bytes)), ("gz", gzip(&bytes))] {
            let mut name = path.clone().into_os_string();
            name.push(format!(".{ending}"));
            std::fs::write(name, packed.map_err(failed)?).map_err(failed)?;
        }
    }
    Ok(())
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn brotli(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    // The window covers the largest module.
    brotli::CompressorWriter::new(&mut packed, 65_536, BROTLI_LEVEL, 22).write_all(bytes)?;
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_unpacked_is_what_was_packed() {
        let folder = std::env::temp_dir().join(format!("gaggle-pack-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let text = "geese fly in formation ".repeat(500);
        std::fs::write(folder.join("a.wasm"), &text).expect("a file");
        std::fs::write(folder.join("b.png"), &text).expect("a file");
        pack(&folder).expect("packed");
        let read = |name: &str| std::fs::read(folder.join(name)).expect("a packed file");
        let mut unpacked = String::new();
        flate2::read::GzDecoder::new(&read("a.wasm.gz")[..]).read_to_string(&mut unpacked).expect("gzip");
        assert_eq!(unpacked, text);
        unpacked.clear();
        brotli::Decompressor::new(&read("a.wasm.br")[..], 4_096)
            .read_to_string(&mut unpacked)
            .expect("brotli");
        assert_eq!(unpacked, text);
        assert!(!folder.join("b.png.gz").exists());
        std::fs::remove_dir_all(folder).expect("gone");
    }
}
