//! Images that scenes refer to, by id.
//!
//! Filled by games, read by the canvas and by browsers. Absent: file formats.

use crate::Bitmap;

/// An image of one [`Album`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageId(u32);

impl ImageId {
    /// Index in the album, for tables of the same order.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All images of a game. Most are painted once; a few are redrawn every frame, and their revision
/// tells when a copy, as in a texture, is out of date.
#[derive(Debug, Clone, Default)]
pub struct Album {
    images: Vec<(Bitmap, u32)>,
}

impl Album {
    /// Adds an image and returns its id.
    pub fn add(&mut self, image: Bitmap) -> ImageId {
        self.images.push((image, 0));
        ImageId(self.images.len() as u32 - 1)
    }

    /// The image with this id.
    ///
    /// # Panics
    /// If the id is from another album.
    pub fn image(&self, id: ImageId) -> &Bitmap {
        &self.images[id.index()].0
    }

    /// The image with this id, to be redrawn: its revision goes up.
    ///
    /// # Panics
    /// If the id is from another album.
    pub fn redraw(&mut self, id: ImageId) -> &mut Bitmap {
        let (image, revision) = &mut self.images[id.index()];
        *revision = revision.wrapping_add(1);
        image
    }

    /// Number of redraws of an image; wraps.
    pub fn revision(&self, id: ImageId) -> u32 {
        self.images[id.index()].1
    }

    /// Number of images added so far.
    pub fn len(&self) -> usize {
        self.images.len()
    }

    /// Whether no image was added yet.
    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }
}
