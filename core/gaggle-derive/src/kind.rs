//! Code of `#[derive(Kind)]` and `#[derive(Field)]`: from fields and their attributes to the words
//! of an object.
//! `lib.rs` calls it. Absent: how words are sent.

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, LitInt, LitStr, Path, Result, Token, Type};

use crate::attributes::{parse_value, range};
use crate::kit_path::replica_path;

pub(crate) fn expand(item: &DeriveInput) -> Result<TokenStream> {
    let attributes = TypeAttributes::parse(item)?;
    let replica = &attributes.replica;
    if let Some(parameter) = item.generics.params.first() {
        return Err(Error::new_spanned(parameter, "a kind has no parameters: peers know it by its name"));
    }
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(
            &item.ident,
            "a kind is a struct; an enum can be a field of one: `derive(Field)`",
        ));
    };
    let mut fields = match &data.fields {
        Fields::Named(named) => named.named.iter().map(KindField::parse).collect::<Result<Vec<_>>>()?,
        other => return Err(Error::new_spanned(other, "a kind has fields with names")),
    };
    check_velocities(&fields)?;
    // Fields that change come first, so that the words of two updates are adjacent.
    fields.sort_by_key(|field| field.constant);

    let name = &item.ident;
    let kind_name = attributes.name.unwrap_or_else(|| item.ident.to_string());
    let rules = &attributes.rules;
    let (axes, shapes): (Vec<_>, Vec<_>) =
        fields.iter().enumerate().map(|(index, field)| field.shape(index, replica)).unzip();
    let mut ranges = Vec::new();
    let mut start = quote!(0);
    for (index, _) in fields.iter().enumerate() {
        let next = quote!(#start + <#name as #replica::Kind>::FIELDS[#index].words());
        ranges.push(quote!(const { #start }..const { #next }));
        start = next;
    }
    let to_words =
        fields.iter().enumerate().zip(&ranges).map(|((index, f), range)| f.to_words(index, range, replica));
    let from_words =
        fields.iter().enumerate().zip(&ranges).map(|((index, f), range)| f.read_words(index, range, replica));
    let from_shown =
        fields.iter().enumerate().zip(&ranges).map(|((index, f), range)| f.read_shown(index, range, replica));
    let checks = fields.iter().map(|field| field.check(replica));
    Ok(quote! {
        #(#checks)*

        #[automatically_derived]
        impl #replica::Kind for #name {
            const NAME: &'static str = #kind_name;
            // Ranges and precisions are literals such as 1.0 / 512.0.
            #[allow(clippy::float_arithmetic)]
            const FIELDS: &'static [#replica::FieldShape] = {
                #(#axes)*
                &[#(#shapes),*]
            };
            const RULES: #replica::KindOptions = #replica::KindOptions {
                #(#rules,)*
                ..#replica::KindOptions::DEFAULT
            };

            fn to_words(&self, __words: &mut [i32]) {
                #(#to_words)*
            }

            fn from_words(__words: &[i32]) -> Self {
                #name { #(#from_words,)* }
            }

            fn from_interpolated(__words: &[i32], __shown: &[f64]) -> Self {
                let _ = (&__words, &__shown);
                #name { #(#from_shown,)* }
            }
        }
    })
}

/// Attributes of the type.
struct TypeAttributes {
    replica: TokenStream,
    name: Option<String>,
    rules: Vec<TokenStream>,
}

impl TypeAttributes {
    fn parse(item: &DeriveInput) -> Result<TypeAttributes> {
        let mut replica = None;
        let mut name = None;
        let mut rules: Vec<(&str, TokenStream)> = Vec::new();
        for attribute in item.attrs.iter().filter(|attribute| attribute.path().is_ident("kind")) {
            attribute.parse_nested_meta(|meta| {
                let word = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
                match word.as_str() {
                    "crate" => {
                        let path: Path = meta.value()?.call(Path::parse_mod_style)?;
                        replica = Some(quote!(#path));
                    }
                    "name" => name = Some(meta.value()?.parse::<LitStr>()?.value()),
                    "priority" => rules.push(("priority", value(&meta)?)),
                    "smoothing" => rules.push(("smoothing", value(&meta)?)),
                    "snap_distance" => rules.push(("snap_distance", value(&meta)?)),
                    "interpolation" => rules.push((
                        "interpolation",
                        choice(&meta, "Interpolation", &["extrapolated", "buffered"])?,
                    )),
                    "on_leave" => {
                        rules.push(("on_leave", choice(&meta, "OnLeave", &["transfer", "hold", "despawn"])?));
                    }
                    "claim_cooldown_ms" => rules.push(("claim_cooldown", millis(&meta)?)),
                    "idle_release_ms" => rules.push(("idle_release", millis(&meta)?)),
                    _ => return Err(meta.error(
                        "on a type `name`, `priority`, `smoothing`, `snap_distance`, `interpolation`, `on_leave`, \
                         `claim_cooldown_ms`, `idle_release_ms` and `crate` have a meaning",
                    )),
                }
                Ok(())
            })?;
        }
        let replica = replica.unwrap_or_else(replica_path);
        let rules = rules
            .into_iter()
            .map(|(field, value)| {
                let field = format_ident!("{field}");
                match field.to_string().as_str() {
                    "priority" | "smoothing" | "snap_distance" => quote!(#field: #value),
                    "claim_cooldown" | "idle_release" => quote!(#field: #replica::derived::millis(#value)),
                    _ => quote!(#field: #replica::#value),
                }
            })
            .collect();
        Ok(TypeAttributes { replica, name, rules })
    }
}

/// Attributes of a field.
struct KindField {
    name: Ident,
    ty: Type,
    form: Form,
    constant: bool,
    stepped: bool,
    moved_by: Option<Ident>,
}

enum Form {
    /// Encoded by the default of its type.
    Natural,
    /// One range for all elements or one each; continuous if a precision is given, else discrete.
    Ranged {
        ranges: Vec<(TokenStream, TokenStream)>,
        precision: Option<TokenStream>,
    },
    Angle(LitInt),
    Rotation(LitInt),
}

impl KindField {
    fn parse(field: &Field) -> Result<KindField> {
        let name = field.ident.clone().expect("the fields are named");
        let mut parsed = KindField {
            name,
            ty: field.ty.clone(),
            form: Form::Natural,
            constant: false,
            stepped: false,
            moved_by: None,
        };
        let mut ranges = Vec::new();
        let mut precision = None;
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("kind")) {
            attribute.parse_nested_meta(|meta| {
                let word = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
                match word.as_str() {
                    "range" => ranges = self::ranges(&meta)?,
                    "precision" => precision = Some(value(&meta)?),
                    "angle" => parsed.form = Form::Angle(meta.value()?.parse()?),
                    "rotation" => parsed.form = Form::Rotation(meta.value()?.parse()?),
                    "moved_by" => parsed.moved_by = Some(meta.value()?.parse()?),
                    "constant" => parsed.constant = true,
                    "step" => parsed.stepped = true,
                    _ => return Err(meta.error(
                        "on a field `range`, `precision`, `moved_by`, `angle`, `rotation`, `constant` and `step` have a \
                         meaning",
                    )),
                }
                Ok(())
            })?;
        }
        if precision.is_none() && !ranges.is_empty() && (is_number(&field.ty) || has_fraction(&ranges)) {
            return Err(Error::new_spanned(field, parsed.lacks_precision()));
        }
        if ranges.is_empty() && precision.is_none() && is_number(&field.ty) && parsed.is_natural() {
            return Err(Error::new_spanned(field, parsed.lacks_range()));
        }
        match (&parsed.form, ranges.is_empty(), precision) {
            (Form::Natural, false, precision) => parsed.form = Form::Ranged { ranges, precision },
            (_, true, None) => {}
            (Form::Natural, true, Some(precision)) => {
                return Err(Error::new_spanned(precision, "a precision needs a range: `range = -1.0..=1.0`"));
            }
            _ => {
                return Err(Error::new_spanned(
                    &field.ty,
                    "a direction or rotation has no range and no precision",
                ));
            }
        }
        Ok(parsed)
    }

    fn is_natural(&self) -> bool {
        matches!(self.form, Form::Natural)
    }

    fn lacks_precision(&self) -> String {
        let name = self.name.to_string();
        format!("field `{name}` has a range and no precision: write `range = 0.0..=1.0, precision = 0.01`")
    }

    fn lacks_range(&self) -> String {
        let name = self.name.to_string();
        format!(
            "field `{name}` needs a range and a precision: `#[kind(range = 0.0..=1.0, precision = 0.01)]`"
        )
    }

    /// Reports the same errors for a type whose name does not show that it is a number.
    fn check(&self, replica: &TokenStream) -> TokenStream {
        let ty = &self.ty;
        let (is_fine, error) = match &self.form {
            Form::Natural => (quote!(#replica::derived::needs_no_range::<#ty>()), self.lacks_range()),
            Form::Ranged { precision: None, .. } => {
                (quote!(#replica::derived::needs_no_precision::<#ty>()), self.lacks_precision())
            }
            _ => return TokenStream::new(),
        };
        quote_spanned!(self.name.span() => const _: () = ::core::assert!(#is_fine, #error);)
    }

    /// The axes as a constant of their own, and the shape that refers to them.
    fn shape(&self, index: usize, replica: &TokenStream) -> (TokenStream, TokenStream) {
        let name = self.name.to_string().trim_start_matches("r#").to_owned();
        let (ty, axes) = (&self.ty, format_ident!("__AXES_{index}"));
        let (constant, mut shape) = match &self.form {
            Form::Natural => (quote!(), quote!(#replica::FieldShape::unranged::<#ty>(#name))),
            Form::Ranged { ranges, precision } => {
                let axis = ranges.iter().map(|(min, max)| match precision {
                    Some(precision) => quote!(#replica::Axis::number(#min, #max, #precision)),
                    None => quote!(#replica::Axis::whole(#min, #max)),
                });
                let constant = quote!(const #axes: &'static [#replica::Axis] = &[#(#axis),*];);
                (constant, quote!(#replica::FieldShape::ranged::<#ty>(#name, #axes)))
            }
            Form::Angle(bits) => (quote!(), quote!(#replica::FieldShape::angle(#name, #bits))),
            Form::Rotation(bits) => (quote!(), quote!(#replica::FieldShape::rotation(#name, #bits))),
        };
        if let Some(velocity) = &self.moved_by {
            let velocity = velocity.to_string();
            shape = quote!(#shape.moved_by(#velocity));
        }
        if self.constant {
            shape = quote!(#shape.constant());
        }
        if self.stepped {
            shape = quote!(#shape.discrete());
        }
        (constant, shape)
    }

    fn to_words(&self, index: usize, range: &TokenStream, replica: &TokenStream) -> TokenStream {
        let (name, ty) = (&self.name, &self.ty);
        match &self.form {
            Form::Natural | Form::Ranged { .. } => quote! {
                <#ty as #replica::Field>::to_words(
                    &self.#name,
                    const { <Self as #replica::Kind>::FIELDS[#index].axes() },
                    &mut __words[#range],
                );
            },
            Form::Angle(bits) => quote! {
                __words[#range][0] = <#ty as #replica::Direction>::to_step(&self.#name, #bits);
            },
            Form::Rotation(bits) => quote! {
                #replica::derived::rotation_to_words(self.#name, #bits, &mut __words[#range]);
            },
        }
    }

    fn read_words(&self, index: usize, range: &TokenStream, replica: &TokenStream) -> TokenStream {
        let (name, value) = (&self.name, self.value(index, range, replica));
        quote!(#name: #value)
    }

    fn value(&self, index: usize, range: &TokenStream, replica: &TokenStream) -> TokenStream {
        let ty = &self.ty;
        match &self.form {
            Form::Natural | Form::Ranged { .. } => quote! {
                <#ty as #replica::Field>::from_words(
                    const { <Self as #replica::Kind>::FIELDS[#index].axes() },
                    &__words[#range],
                )
            },
            Form::Angle(bits) => quote! {
                <#ty as #replica::Direction>::from_step(f64::from(__words[#range][0]), #bits)
            },
            Form::Rotation(bits) => quote!(#replica::derived::rotation_from_words(&__words[#range], #bits)),
        }
    }

    /// Constants and discrete fields are shown unchanged; only the type of other fields decides
    /// whether they are interpolated.
    fn read_shown(&self, index: usize, range: &TokenStream, replica: &TokenStream) -> TokenStream {
        let (name, ty) = (&self.name, &self.ty);
        if self.constant || self.stepped {
            return self.read_words(index, range, replica);
        }
        match &self.form {
            Form::Natural | Form::Ranged { .. } => {
                let value = self.value(index, range, replica);
                quote! {
                    #name: if const { <Self as #replica::Kind>::FIELDS[#index].is_interpolated() } {
                        <#ty as #replica::Field>::from_interpolated(
                            const { <Self as #replica::Kind>::FIELDS[#index].axes() },
                            &__shown[#range],
                        )
                    } else {
                        #value
                    }
                }
            }
            Form::Angle(bits) => quote! {
                #name: <#ty as #replica::Direction>::from_step(__shown[#range][0], #bits)
            },
            // The four components together: single words of a rotation cannot be interpolated.
            Form::Rotation(_) => quote! {
                #name: [__shown[#range][0] as f32, __shown[#range][1] as f32, __shown[#range][2] as f32, __shown[#range][3] as f32]
            },
        }
    }
}

/// Whether a type's name is that of a number with a fraction, or of an array of such.
fn is_number(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => is_number(&array.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            name == "f32" || name == "Fixed" || name == "Fixed16"
        }),
        _ => false,
    }
}

/// Whether an end of a range is written as a number with a fraction.
fn has_fraction(ranges: &[(TokenStream, TokenStream)]) -> bool {
    let is_fraction = |tree: TokenTree| match tree {
        TokenTree::Literal(literal) => syn::parse_str::<syn::LitFloat>(&literal.to_string()).is_ok(),
        _ => false,
    };
    let mut ends = ranges.iter().flat_map(|(min, max)| [min, max]);
    ends.any(|end| end.clone().into_iter().any(is_fraction))
}

fn check_velocities(fields: &[KindField]) -> Result<()> {
    for field in fields {
        let Some(velocity) = &field.moved_by else { continue };
        match fields.iter().find(|other| other.name == *velocity) {
            None => return Err(Error::new_spanned(velocity, "there is no field of this name")),
            Some(other) if other.constant || other.moved_by.is_some() => {
                return Err(Error::new_spanned(velocity, "a velocity changes and is not itself moved"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Parses everything up to the next comma, as an expression.
fn value(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    parse_value(meta.value()?)
}

fn millis(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    let input = meta.value()?;
    if input.peek(Ident) {
        let word: Ident = input.parse()?;
        if word == "never" {
            return Ok(quote!(::core::option::Option::None));
        }
        return Err(Error::new_spanned(word, "write a number of milliseconds, or `never`"));
    }
    let number: LitInt = input.parse()?;
    Ok(quote!(::core::option::Option::Some(#number)))
}

/// Parses one of a few words, as the variant of the same name.
fn choice(meta: &ParseNestedMeta<'_>, of: &str, words: &[&str]) -> Result<TokenStream> {
    let word: Ident = meta.value()?.parse()?;
    let Some(chosen) = words.iter().find(|known| word == **known) else {
        return Err(Error::new_spanned(word, format!("write one of: {}", words.join(", "))));
    };
    let variant = format!("{}{}", chosen[..1].to_uppercase(), &chosen[1..]);
    let (of, variant) = (format_ident!("{of}"), format_ident!("{variant}"));
    Ok(quote!(#of::#variant))
}

/// Parses `= a..=b`, or `= [a..=b, c..=d]` with one range for each element.
fn ranges(meta: &ParseNestedMeta<'_>) -> Result<Vec<(TokenStream, TokenStream)>> {
    let input = meta.value()?;
    if input.peek(syn::token::Bracket) {
        let content;
        syn::bracketed!(content in input);
        let list = content.parse_terminated(range, Token![,])?;
        return Ok(list.into_iter().collect());
    }
    Ok(vec![range(input)?])
}

/// Derives `Field` for an enum without data, as the number of its variant.
pub(crate) fn expand_field(item: &DeriveInput) -> Result<TokenStream> {
    let replica = &TypeAttributes::parse(item)?.replica;
    let Data::Enum(data) = &item.data else {
        return Err(Error::new_spanned(&item.ident, "only an enum without data can be a field"));
    };
    if let Some(with_data) = data.variants.iter().find(|variant| !matches!(variant.fields, Fields::Unit)) {
        return Err(Error::new_spanned(with_data, "a variant with data has no fixed number of words"));
    }
    let count = data.variants.len();
    if count == 0 {
        return Err(Error::new_spanned(&item.ident, "an enum here has variants"));
    }
    let name = &item.ident;
    let variants: Vec<&Ident> = data.variants.iter().map(|variant| &variant.ident).collect();
    let numbers: Vec<LitInt> =
        (0..count).map(|number| LitInt::new(&format!("{number}_i32"), name.span())).collect();
    let last = variants[count - 1];
    let names = variants.iter().map(|variant| variant.to_string()).collect::<Vec<_>>().join(" ");
    Ok(quote! {
        #[automatically_derived]
        impl #replica::Field for #name {
            const WORDS: usize = 1;
            const ENCODING: #replica::Encoding = #replica::Encoding::Discrete;
            const AXIS: ::core::option::Option<#replica::Axis> =
                ::core::option::Option::Some(#replica::Axis::whole(0, #count as i64 - 1));
            const MEANING: &'static str = #names;

            fn to_words(&self, _: &[#replica::Axis], __words: &mut [i32]) {
                __words[0] = match self { #(#name::#variants => #numbers,)* };
            }

            fn from_words(_: &[#replica::Axis], __words: &[i32]) -> Self {
                // A decoder accepts no other number.
                match __words[0] { #(#numbers => #name::#variants,)* _ => #name::#last }
            }

            fn from_interpolated(__axes: &[#replica::Axis], __words: &[f64]) -> Self {
                Self::from_words(__axes, &[__words[0] as i32])
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn error(item: &DeriveInput) -> String {
        expand(item).map_or_else(|error| error.to_string(), |_| String::from("no error"))
    }

    #[test]
    fn range_of_fractions_without_precision_names_field_and_remedy() {
        let items: [DeriveInput; 4] = [
            parse_quote!(
                struct Ship {
                    #[kind(range = -1.0..=1.0)]
                    speed: f32,
                }
            ),
            parse_quote!(
                struct Ship {
                    #[kind(range = 0..=512)]
                    speed: [Fixed16; 2],
                }
            ),
            parse_quote!(
                struct Ship {
                    #[kind(range = [0..=5, 0.5..=MAX])]
                    speed: Place,
                }
            ),
            parse_quote!(
                struct Ship {
                    #[kind(range = 0..=LIMIT)]
                    speed: gaggle_kit::Fixed<12>,
                }
            ),
        ];
        for item in &items {
            let error = error(item);
            assert!(error.contains("`speed`") && error.contains("precision = 0.01"), "{error}");
        }
    }

    #[test]
    fn number_without_range_names_field_and_remedy() {
        let item: DeriveInput = parse_quote!(
            struct Ship {
                lives: u8,
                height: f32,
            }
        );
        let error = error(&item);
        assert!(
            error.contains("`height`") && error.contains("range = 0.0..=1.0, precision = 0.01"),
            "{error}"
        );
    }

    #[test]
    fn types_of_other_names_are_checked_by_compiler() {
        let item: DeriveInput = parse_quote!(
            struct Ship {
                place: Place,
                #[kind(range = 0..=9)]
                speed: Speed,
                #[kind(range = 0.0..=1.0, precision = 0.1)]
                fuel: f32,
                #[kind(angle = 8)]
                heading: f32,
            }
        );
        let code = expand(&item).unwrap().to_string();
        assert_eq!(code.matches("assert !").count(), 2, "{code}");
        assert!(code.contains("field `place` needs a range and a precision"), "{code}");
        assert!(code.contains("field `speed` has a range and no precision"), "{code}");
    }

    #[test]
    fn whole_numbers_need_no_precision() {
        let item: DeriveInput = parse_quote!(
            struct Ship {
                #[kind(range = 0..=9)]
                lives: u8,
                alive: bool,
            }
        );
        assert_eq!(error(&item), "no error");
    }
}
