//! Macro for enums that are sent as one word.
//!
//! Statuses, verdicts and rejection codes use it. Absent: JSON syntax.

/// Declares an enum whose values are words in messages.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident: $expected:literal {
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$variant_meta])* $variant,)* }

        impl $name {
            /// All values in order.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The word in messages.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The value of a word.
            pub fn from_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::json::Value for $name {
            fn read(raw: $crate::json::Raw<'_>, field: &'static str) -> Result<$name, $crate::MessageError> {
                let value = raw.string().and_then(|word| $name::from_word(&word));
                value.ok_or($crate::MessageError::Invalid { field, expected: $expected })
            }

            fn blank() -> $name {
                $name::ALL[0]
            }

            fn write(&self, out: &mut String) {
                out.push('"');
                out.push_str(self.as_str());
                out.push('"');
            }
        }
    };
}

pub(crate) use words;
