//! PNG files, with a palette where at most 256 colors allow it, to be small.
//!
//! Called by all commands that draw. Absent: scenes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

/// Writes pixels given as `0x..rrggbb`, creating the folder if necessary.
pub(crate) fn write(path: &Path, width: u32, height: u32, pixels: &[u32]) -> Result<(), String> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let palette = palette(pixels);
    let bytes: Vec<u8> = match &palette {
        Some(colors) => {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_filter(png::Filter::NoFilter);
            let mut table = vec![[0; 3]; colors.len()];
            colors.iter().for_each(|(color, index)| table[usize::from(*index)] = rgb(*color));
            encoder.set_palette(table.concat());
            pixels.iter().map(|pixel| colors[&(pixel & 0xff_ffff)]).collect()
        }
        None => {
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_filter(png::Filter::Adaptive);
            pixels.iter().flat_map(|pixel| rgb(*pixel)).collect()
        }
    };
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&bytes));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Colors of a picture and their numbers, if there are at most 256.
fn palette(pixels: &[u32]) -> Option<BTreeMap<u32, u8>> {
    let mut colors = BTreeMap::new();
    for pixel in pixels {
        let next = colors.len();
        let color = pixel & 0xff_ffff;
        if let Entry::Vacant(place) = colors.entry(color) {
            place.insert(u8::try_from(next).ok()?);
        }
    }
    Some(colors)
}

fn rgb(pixel: u32) -> [u8; 3] {
    [(pixel >> 16) as u8, (pixel >> 8) as u8, pixel as u8]
}
