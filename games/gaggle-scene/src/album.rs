//! The images a scene refers to.

use crate::Bitmap;

/// An image in an [`Album`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageId(u32);

impl ImageId {
    /// Its place in the album, for tables beside it.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All images of a game. Most are made once; a few are drawn anew for every frame, and their
/// revision says so to whoever keeps copies (a texture, a canvas).
#[derive(Debug, Clone, Default)]
pub struct Album {
    images: Vec<(Bitmap, u32)>,
}

impl Album {
    /// Adds an image.
    pub fn add(&mut self, image: Bitmap) -> ImageId {
        self.images.push((image, 0));
        ImageId(self.images.len() as u32 - 1)
    }

    /// An image.
    ///
    /// # Panics
    /// If the id is from another album.
    pub fn image(&self, id: ImageId) -> &Bitmap {
        &self.images[id.index()].0
    }

    /// An image, to be drawn anew.
    ///
    /// # Panics
    /// If the id is from another album.
    pub fn redraw(&mut self, id: ImageId) -> &mut Bitmap {
        let (image, revision) = &mut self.images[id.index()];
        *revision = revision.wrapping_add(1);
        image
    }

    /// Changes whenever the image does.
    pub fn revision(&self, id: ImageId) -> u32 {
        self.images[id.index()].1
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        self.images.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }
}
