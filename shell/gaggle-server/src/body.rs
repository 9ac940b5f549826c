//! Response bodies: bytes, or a file that is read piece by piece while it is sent.
//!
//! `http.rs` uses it. A piece is read once the previous one was taken, and never on a thread that
//! serves connections. Absent: which file is sent (`assets.rs`).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::Semaphore;

use crate::assets::Content;
use crate::handshake_limit::Serving;

/// Bytes per read: a connection holds two of these at most, besides kernel buffers.
const PIECE: u64 = 32 << 10;
/// Most disk operations at a time; more would only wait in the disk's queue.
const READS_MAX: usize = 8;

/// Access to the disk.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    reads: Arc<Semaphore>,
}

impl Default for Disk {
    fn default() -> Disk {
        Disk { reads: Arc::new(Semaphore::new(READS_MAX)) }
    }
}

impl Disk {
    /// Runs a disk operation on a blocking thread.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let permit = self.reads.clone().acquire_owned().await.map_err(io::Error::other)?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        done.await.map_err(io::Error::other)
    }
}

type Reading = Pin<Box<dyn Future<Output = io::Result<(Arc<File>, Bytes)>> + Send>>;

/// Body of a response.
#[derive(Default)]
pub(crate) struct Answered {
    content: Source,
    /// Counts as a running request until the body is handed to the kernel.
    serving: Option<Serving>,
}

#[derive(Default)]
enum Source {
    #[default]
    Nothing,
    Bytes(Bytes),
    File(FileSource),
}

struct FileSource {
    disk: Disk,
    path: PathBuf,
    file: Option<Arc<File>>,
    at: u64,
    length: u64,
    reading: Option<Reading>,
}

impl Answered {
    pub(crate) fn new(content: Content, disk: &Disk) -> Answered {
        let content = match content {
            Content::Bytes(bytes) => Source::Bytes(bytes),
            Content::File { path, length } => {
                let disk = disk.clone();
                Source::File(FileSource { disk, path, file: None, at: 0, length, reading: None })
            }
        };
        Answered { content, serving: None }
    }

    pub(crate) fn hold(&mut self, serving: Serving) {
        self.serving = Some(serving);
    }
}

impl From<Bytes> for Answered {
    fn from(bytes: Bytes) -> Answered {
        Answered { content: Source::Bytes(bytes), serving: None }
    }
}

impl FileSource {
    /// Starts reading the next piece.
    fn read(&self) -> Reading {
        let (disk, path, file, at) = (self.disk.clone(), self.path.clone(), self.file.clone(), self.at);
        let count = (self.length - at).min(PIECE) as usize;
        Box::pin(async move {
            let read = disk.run(move || {
                let file = match file {
                    Some(file) => file,
                    None => Arc::new(File::open(path)?),
                };
                let mut piece = vec![0; count];
                file.read_exact_at(&mut piece, at)?;
                Ok((file, Bytes::from(piece)))
            });
            read.await?
        })
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.at >= self.length {
            return Poll::Ready(None);
        }
        if self.reading.is_none() {
            self.reading = Some(self.read());
        }
        let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
        let read = ready!(reading.as_mut().poll(context));
        self.reading = None;
        Poll::Ready(Some(read.map(|(file, piece)| {
            self.file = Some(file);
            self.at += piece.len() as u64;
            piece
        })))
    }
}

impl Body for Answered {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = match std::mem::take(&mut self.content) {
            Source::Nothing => None,
            Source::Bytes(bytes) => Some(Ok(bytes)),
            Source::File(mut file) => {
                let read = file.poll(context);
                self.content = Source::File(file);
                ready!(read)
            }
        };
        if let (Some(Ok(piece)), Some(serving)) = (&piece, &self.serving) {
            serving.count_sent(piece.len());
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.size_hint().exact() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match &self.content {
            Source::Nothing => 0,
            Source::Bytes(bytes) => bytes.len() as u64,
            Source::File(file) => file.length - file.at,
        })
    }
}
