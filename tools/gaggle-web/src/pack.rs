//! Compressed copies of the files of a page, made once, so that a server need not compress per
//! request.
//!
//! Called by `bundle`. Absent: how a server chooses a copy.

use std::io::{Read, Write};
use std::path::Path;
use std::time::SystemTime;

use brotli::enc::BrotliEncoderParams;
use brotli::enc::backward_references::BrotliEncoderMode;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Endings of files worth compressing; pictures are compressed already.
const ENDINGS: [&str; 7] = ["css", "html", "js", "json", "svg", "wasm", "webmanifest"];
/// The best level of Brotli: a tenth smaller than two levels below. It takes seconds, so copies of
/// unchanged files are kept.
const BROTLI_LEVEL: i32 = 11;

/// Writes `NAME.br` and `NAME.gz` beside every file of `directory` worth compressing.
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
        let beside = |ending: &str| {
            let mut name = path.clone().into_os_string();
            name.push(format!(".{ending}"));
            name
        };
        if std::fs::read(beside("br")).is_ok_and(|packed| unpacked(&packed).is_ok_and(|old| old == bytes)) {
            // A server sends a copy only if it is not older than its file.
            for ending in ["gz", "br"] {
                let file = std::fs::File::options().append(true).open(beside(ending)).map_err(failed)?;
                file.set_modified(SystemTime::now()).map_err(failed)?;
            }
            continue;
        }
        for (beside_ending, packed) in [("gz", gzip(&bytes)), ("br", brotli(&bytes, ending == "wasm"))] {
            std::fs::write(beside(beside_ending), packed.map_err(failed)?).map_err(failed)?;
        }
    }
    Ok(())
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn brotli(bytes: &[u8], is_module: bool) -> std::io::Result<Vec<u8>> {
    // The window covers the largest module.
    let mut params =
        BrotliEncoderParams { quality: BROTLI_LEVEL, lgwin: 22, ..BrotliEncoderParams::default() };
    if !is_module {
        return compress(bytes, &params);
    }
    // Brotli predicts a byte from the upper bits of the previous one, which suits instructions.
    // Block size and number of near distances were found by trial: half a kilobyte less per module.
    params.mode = BrotliEncoderMode::BROTLI_FORCE_MSB_PRIOR;
    let mut best: Option<Vec<u8>> = None;
    for (lgblock, direct) in [(16, 0), (16, 10), (17, 10)] {
        params.lgblock = lgblock;
        params.dist.num_direct_distance_codes = direct;
        let packed = compress(bytes, &params)?;
        if best.as_ref().is_none_or(|best| packed.len() < best.len()) {
            best = Some(packed);
        }
    }
    Ok(best.unwrap_or_default())
}

fn compress(bytes: &[u8], params: &BrotliEncoderParams) -> std::io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &bytes[..], &mut packed, params)?;
    Ok(packed)
}

fn unpacked(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    brotli::Decompressor::new(packed, 65_536).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Bytes on the wire for these files of `directory`, in the best encoding that a browser accepts.
///
/// # Errors
/// If a file cannot be read.
pub fn wire_bytes(directory: &Path, names: &[&str]) -> std::io::Result<u64> {
    let mut bytes = 0;
    for name in names {
        let packed = std::fs::metadata(directory.join(format!("{name}.br")));
        bytes += packed.or_else(|_| std::fs::metadata(directory.join(name)))?.len();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_files_unpack_to_same_bytes() {
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
        let (packed, picture) = (read("a.wasm.br").len(), text.len());
        assert_eq!(wire_bytes(&folder, &["a.wasm", "b.png"]).expect("a size"), (packed + picture) as u64);
        // Written again with the same bytes, a file is not compressed again, but its copies are
        // still sent.
        std::fs::write(folder.join("a.wasm"), &text).expect("a file");
        pack(&folder).expect("packed");
        let modified = |name: &str| {
            std::fs::metadata(folder.join(name)).and_then(|file| file.modified()).expect("a time")
        };
        assert!(modified("a.wasm.br") >= modified("a.wasm") && modified("a.wasm.gz") >= modified("a.wasm"));
        // A changed file is compressed again.
        std::fs::write(folder.join("a.wasm"), "geese").expect("a file");
        pack(&folder).expect("packed");
        assert_eq!(
            super::unpacked(&std::fs::read(folder.join("a.wasm.br")).expect("packed")).expect("brotli"),
            b"geese"
        );
        std::fs::remove_dir_all(folder).expect("gone");
    }
}
