//! Attributes `#[state(…)]` and `#[input(…)]`: which exist, and where they are allowed. The derives
//! of `State` and `Input` parse them. Absent: `#[kind(…)]`, generated code.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::meta::ParseNestedMeta;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Attribute, Error, LitInt, Path, Result, Token};

use crate::kit_path::kit_path;

/// Attributes of a type.
pub(crate) struct TypeAttributes {
    pub(crate) kit: TokenStream,
    pub(crate) pod: bool,
}

impl TypeAttributes {
    pub(crate) fn parse(attributes: &[Attribute], derive: Derive) -> Result<TypeAttributes> {
        let mut kit = None;
        let mut pod = false;
        derive.each(attributes, |meta| {
            if meta.path.is_ident("crate") {
                let path: Path = meta.value()?.call(Path::parse_mod_style)?;
                kit = Some(quote::quote!(#path));
            } else if meta.path.is_ident("pod") && derive == Derive::State {
                pod = true;
            } else if derive == Derive::State {
                return Err(meta.error("on a type only `pod` and `crate = …` have a meaning"));
            } else {
                return Err(meta.error("on a type only `crate = …` has a meaning"));
            }
            Ok(())
        })?;
        Ok(TypeAttributes { kit: kit.unwrap_or_else(kit_path), pod })
    }
}

/// Attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) range: Option<(TokenStream, TokenStream)>,
    pub(crate) max: Option<TokenStream>,
    pub(crate) skip: bool,
    pub(crate) one_shot: Option<OneShot>,
    pub(crate) new_player: bool,
}

/// The part of a field that counts once per press instead of being held.
pub(crate) enum OneShot {
    All,
    Bits(LitInt),
}

impl FieldAttributes {
    pub(crate) fn parse(attributes: &[Attribute], derive: Derive) -> Result<FieldAttributes> {
        let mut parsed = FieldAttributes::default();
        derive.each(attributes, |meta| {
            if meta.path.is_ident("range") {
                parsed.range = Some(parse_range(&meta)?);
                return Ok(());
            }
            match derive {
                Derive::State if meta.path.is_ident("max") => parsed.max = Some(parse_value(meta.value()?)?),
                Derive::State if meta.path.is_ident("skip") => parsed.skip = true,
                Derive::State => {
                    return Err(
                        meta.error("on a field only `range = …`, `max = …` and `skip` have a meaning")
                    );
                }
                Derive::Input if meta.path.is_ident("one_shot") => {
                    parsed.one_shot = Some(if meta.input.peek(Token![=]) {
                        OneShot::Bits(meta.value()?.parse()?)
                    } else {
                        OneShot::All
                    });
                }
                Derive::Input if meta.path.is_ident("new_player") => parsed.new_player = true,
                Derive::Input => {
                    return Err(
                        meta.error("on a field only `range = …`, `one_shot` and `new_player` have a meaning")
                    );
                }
            }
            Ok(())
        })?;
        if parsed.skip && (parsed.range.is_some() || parsed.max.is_some()) {
            let span = attributes.first().map_or_else(Span::call_site, Spanned::span);
            return Err(Error::new(span, "a skipped field is not decoded, so there is nothing to check"));
        }
        Ok(parsed)
    }
}

/// Whether a variant of an input counts once.
pub(crate) fn variant_is_one_shot(attributes: &[Attribute], derive: Derive) -> Result<bool> {
    let mut one_shot = false;
    derive.each(attributes, |meta| match derive {
        Derive::Input if meta.path.is_ident("one_shot") => {
            one_shot = true;
            Ok(())
        }
        Derive::Input => Err(meta.error("on a variant only `one_shot` has a meaning")),
        Derive::State => Err(meta.error("nothing of `state` has a meaning on a variant")),
    })?;
    Ok(one_shot)
}

/// The derive being expanded, which decides the name of its attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Derive {
    State,
    Input,
}

impl Derive {
    fn each(
        self,
        attributes: &[Attribute],
        mut handle: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
    ) -> Result<()> {
        let name = match self {
            Derive::State => "state",
            Derive::Input => "input",
        };
        attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident(name))
            .try_for_each(|attribute| attribute.parse_nested_meta(&mut handle))
    }
}

/// Parses `= 0..=8`, where each end is any expression. Both ends are required, because a decoder's
/// error states them.
fn parse_range(meta: &ParseNestedMeta<'_>) -> Result<(TokenStream, TokenStream)> {
    let input = meta.value().map_err(|error| Error::new(error.span(), RANGE_SHAPE))?;
    range(input)
}

const RANGE_SHAPE: &str = "write both ends of what is allowed: `range = 0..=8`";

/// Parses `0..=8`, where each end is any expression.
pub(crate) fn range(input: ParseStream<'_>) -> Result<(TokenStream, TokenStream)> {
    let mut ends = (TokenStream::new(), TokenStream::new());
    let start = input.span();
    while !input.is_empty() && !input.peek(Token![..=]) && !input.peek(Token![,]) {
        ends.0.extend([input.parse::<TokenTree>()?]);
    }
    input.parse::<Token![..=]>().map_err(|error| Error::new(error.span(), RANGE_SHAPE))?;
    ends.1 = parse_value(input)?;
    if ends.0.is_empty() || ends.1.is_empty() {
        return Err(Error::new(start, RANGE_SHAPE));
    }
    Ok(ends)
}

/// Parses everything up to the next comma.
pub(crate) fn parse_value(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut value = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        value.extend([input.parse::<TokenTree>()?]);
    }
    if value.is_empty() {
        return Err(input.error("a value is missing"));
    }
    Ok(value)
}
