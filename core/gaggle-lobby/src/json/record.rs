//! Macros that declare a message's type, reader and writer at once, so that they cannot differ.
//!
//! Messages, commands and snapshots use them. Absent: meaning of the fields.

use super::MessageError;
use super::read::{Object, Raw};
use super::write::{ObjectWriter, write_string, write_u64};

/// Items per list.
const ITEMS_MAX: usize = 256;

/// A type that can be a field.
pub(crate) trait Value: Sized {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<Self, MessageError>;

    /// Placeholder after a failed read, until the message is discarded. One error exit per message
    /// instead of one per field halves the code in a page.
    fn blank() -> Self;

    fn write(&self, out: &mut String);

    /// Value of a missing field; none if the field is required.
    fn missing() -> Option<Self> {
        None
    }

    /// Whether the field may be omitted because a missing one means the same.
    fn is_missing(&self) -> bool {
        false
    }
}

/// A group of fields: a message without its kind, or a part of one.
pub(crate) trait Record: Sized {
    /// Reads the fields. Errors are stored in the object: see [`Object::finish`].
    fn read_fields(object: &Object<'_>) -> Self;

    fn write_fields(&self, out: &mut ObjectWriter<'_>);
}

/// Declares a struct with its reader and writer. Field names are the JSON names, unless `as` gives
/// another.
macro_rules! record {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident $(as $json:literal)?: $type:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }

        $crate::json::record_of! { $name { $($field $(as $json)?),* } }
    };
}

/// Reader and writer of a struct that is declared elsewhere.
macro_rules! record_of {
    ($name:ident { $($field:ident $(as $json:literal)?),* }) => {
        impl $crate::json::Record for $name {
            #[inline(never)]
            fn read_fields(object: &$crate::json::Object<'_>) -> $name {
                let _ = object;
                $name { $($field: object.read($crate::json::json_name!($field $(as $json)?)),)* }
            }

            #[inline(never)]
            fn write_fields(&self, out: &mut $crate::json::ObjectWriter<'_>) {
                let _ = &out;
                $(out.field($crate::json::json_name!($field $(as $json)?), &self.$field);)*
            }
        }

        impl $crate::json::Value for $name {
            fn read(raw: $crate::json::Raw<'_>, field: &'static str) -> Result<$name, $crate::MessageError> {
                let object = raw.object(field)?;
                let record = $crate::json::Record::read_fields(&object);
                object.finish(record)
            }

            fn blank() -> $name {
                $name { $($field: $crate::json::Value::blank(),)* }
            }

            fn write(&self, out: &mut String) {
                let mut object = $crate::json::ObjectWriter::new(out);
                $crate::json::Record::write_fields(self, &mut object);
                object.end();
            }
        }
    };
}

/// JSON name of a field.
macro_rules! json_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident as $json:literal) => {
        $json
    };
}

/// Declares an enum of records that one field distinguishes.
macro_rules! tagged {
    ($(#[$meta:meta])* pub enum $name:ident by $tag:literal {
        $(#[$first_meta:meta])* $first_word:literal => $first:ident,
        $($(#[$variant_meta:meta])* $word:literal => $variant:ident,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name { $(#[$first_meta])* $first($first), $($(#[$variant_meta])* $variant($variant),)* }

        impl $name {
            /// JSON names of all kinds.
            #[allow(dead_code, reason = "for tests and documents")]
            pub const KINDS: &[&str] = &[$first_word, $($word,)*];

            /// JSON name of the kind.
            pub fn kind(&self) -> &'static str {
                match self {
                    $name::$first(_) => $first_word,
                    $($name::$variant(_) => $word,)*
                }
            }
        }

        impl From<$first> for $name {
            fn from(record: $first) -> $name {
                $name::$first(record)
            }
        }

        $(impl From<$variant> for $name {
            fn from(record: $variant) -> $name {
                $name::$variant(record)
            }
        })*

        impl $crate::json::Record for $name {
            fn read_fields(object: &$crate::json::Object<'_>) -> $name {
                let kind = object.word($tag);
                match &*kind {
                    $first_word => $name::$first($crate::json::Record::read_fields(object)),
                    $($word => $name::$variant($crate::json::Record::read_fields(object)),)*
                    _ => {
                        object.fail($crate::MessageError::UnknownKind { field: $tag });
                        $crate::json::Value::blank()
                    }
                }
            }

            fn write_fields(&self, out: &mut $crate::json::ObjectWriter<'_>) {
                match self {
                    $name::$first(record) => $crate::json::Record::write_fields(record, out),
                    $($name::$variant(record) => $crate::json::Record::write_fields(record, out),)*
                }
            }
        }

        impl $crate::json::Value for $name {
            fn read(raw: $crate::json::Raw<'_>, field: &'static str) -> Result<$name, $crate::MessageError> {
                let object = raw.object(field)?;
                let record = $crate::json::Record::read_fields(&object);
                object.finish(record)
            }

            fn blank() -> $name {
                $name::$first($crate::json::Value::blank())
            }

            fn write(&self, out: &mut String) {
                let mut object = $crate::json::ObjectWriter::new(out);
                object.word($tag, self.kind());
                $crate::json::Record::write_fields(self, &mut object);
                object.end();
            }
        }
    };
}

pub(crate) use {json_name, record, record_of, tagged};

impl Value for bool {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<bool, MessageError> {
        raw.bool().ok_or(MessageError::Invalid { field, expected: "true or false" })
    }

    fn blank() -> bool {
        false
    }

    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn missing() -> Option<bool> {
        Some(false)
    }

    fn is_missing(&self) -> bool {
        !self
    }
}

macro_rules! whole_numbers {
    ($($integer:ty, $expected:literal;)*) => {$(
        impl Value for $integer {
            fn read(raw: Raw<'_>, field: &'static str) -> Result<$integer, MessageError> {
                let number = raw.u64().and_then(|number| number.try_into().ok());
                number.ok_or(MessageError::Invalid { field, expected: $expected })
            }

            fn blank() -> $integer {
                0
            }

            fn write(&self, out: &mut String) {
                write_u64(u64::from(*self), out);
            }
        }
    )*};
}

whole_numbers! {
    u8, "a whole number from 0 to 255";
    u32, "a whole number from 0 to 4294967295";
    u64, "a whole number, not negative";
}

impl Value for i64 {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<i64, MessageError> {
        raw.i64().ok_or(MessageError::Invalid { field, expected: "a whole number" })
    }

    fn blank() -> i64 {
        0
    }

    fn write(&self, out: &mut String) {
        if *self < 0 {
            out.push('-');
        }
        write_u64(self.unsigned_abs(), out);
    }
}

impl Value for String {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<String, MessageError> {
        let text = raw.string().ok_or(MessageError::Invalid { field, expected: "a string" })?;
        Ok(text.into_owned())
    }

    fn blank() -> String {
        String::new()
    }

    fn write(&self, out: &mut String) {
        write_string(self, out);
    }
}

impl<T: Value> Value for Option<T> {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<Option<T>, MessageError> {
        T::read(raw, field).map(Some)
    }

    fn blank() -> Option<T> {
        None
    }

    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }

    fn missing() -> Option<Option<T>> {
        Some(None)
    }

    fn is_missing(&self) -> bool {
        self.is_none()
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<Vec<T>, MessageError> {
        let items = raw.items().ok_or(MessageError::Invalid { field, expected: "an array" })?;
        let mut values = Vec::new();
        for item in items {
            if values.len() == ITEMS_MAX {
                return Err(MessageError::Invalid { field, expected: "an array of at most 256 items" });
            }
            values.push(T::read(item, field)?);
        }
        Ok(values)
    }

    fn blank() -> Vec<T> {
        Vec::new()
    }

    fn write(&self, out: &mut String) {
        out.push('[');
        for (at, value) in self.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            value.write(out);
        }
        out.push(']');
    }

    fn missing() -> Option<Vec<T>> {
        Some(Vec::new())
    }

    fn is_missing(&self) -> bool {
        self.is_empty()
    }
}
