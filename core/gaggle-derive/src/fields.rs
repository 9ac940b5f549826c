//! Variants and fields of a type. A struct is an enum of one variant without a tag.
//! Every derive but `Kind` reads them. Absent: attributes, what a derive generates.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Generics, Index, Member, Result, Type, parse_quote};

use crate::attributes::{Derive, FieldAttributes, variant_is_one_shot};

pub(crate) struct Variant {
    /// Path of the variant: `Self` or `Self::Name`.
    pub(crate) path: TokenStream,
    pub(crate) name: String,
    pub(crate) one_shot: bool,
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Field {
    pub(crate) member: Member,
    pub(crate) ty: Type,
    pub(crate) attributes: FieldAttributes,
    /// Name in errors of decoders: `Rider.speed`.
    pub(crate) what: String,
    index: usize,
}

impl Field {
    /// A variable for this field; `prefix` names the side of a comparison.
    pub(crate) fn variable(&self, prefix: &str) -> Ident {
        format_ident!("__{prefix}{}", self.index, span = Span::mixed_site())
    }

    /// Where errors about the field's type are reported: once, at the type.
    pub(crate) fn span(&self) -> Span {
        Span::call_site().located_at(self.ty.span())
    }

    /// The field's name as it is written in the source.
    pub(crate) fn name(&self) -> String {
        match &self.member {
            Member::Named(name) => name.to_string().trim_start_matches("r#").to_owned(),
            Member::Unnamed(index) => index.index.to_string(),
        }
    }
}

impl Variant {
    /// A pattern that binds all fields to variables.
    pub(crate) fn pattern(&self, prefix: &str) -> TokenStream {
        self.pattern_of(prefix, |_| true)
    }

    /// A pattern that binds some fields to variables.
    pub(crate) fn pattern_of(&self, prefix: &str, wanted: impl Fn(&Field) -> bool) -> TokenStream {
        let path = &self.path;
        let bindings = self.fields.iter().filter(|field| wanted(field)).map(|field| {
            let (member, variable) = (&field.member, field.variable(prefix));
            quote!(#member: #variable,)
        });
        quote!(#path { #(#bindings)* .. })
    }
}

/// The variants of an enum, or the single one of a struct.
pub(crate) fn variants(item: &DeriveInput, derive: Derive) -> Result<Vec<Variant>> {
    let type_name = item.ident.to_string();
    match &item.data {
        Data::Struct(data) => {
            let fields = fields(&data.fields, &type_name, derive)?;
            Ok(vec![Variant { path: quote!(Self), name: type_name, one_shot: false, fields }])
        }
        Data::Enum(data) => {
            // One tag stays free, so that decoders always have one to reject.
            if data.variants.is_empty() || data.variants.len() > 255 {
                return Err(Error::new_spanned(&item.ident, "an enum here has 1 to 255 variants"));
            }
            let variant = |variant: &syn::Variant| {
                let name = &variant.ident;
                let place = format!("{type_name}::{name}");
                Ok(Variant {
                    path: quote!(Self::#name),
                    name: name.to_string(),
                    one_shot: variant_is_one_shot(&variant.attrs, derive)?,
                    fields: fields(&variant.fields, &place, derive)?,
                })
            };
            data.variants.iter().map(variant).collect()
        }
        Data::Union(data) => Err(Error::new_spanned(
            data.union_token,
            "which field of a union is meant cannot be known: use an enum",
        )),
    }
}

fn fields(fields: &Fields, place: &str, derive: Derive) -> Result<Vec<Field>> {
    let field = |(index, field): (usize, &syn::Field)| {
        let member = match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(Index::from(index)),
        };
        let mut field = Field {
            member,
            ty: field.ty.clone(),
            attributes: FieldAttributes::parse(&field.attrs, derive)?,
            what: String::new(),
            index,
        };
        field.what = format!("{place}.{}", field.name());
        Ok(field)
    };
    fields.iter().enumerate().map(field).collect()
}

/// The function that describes a type: names, types and limits of all encoded parts.
pub(crate) fn shape(
    kit: &TokenStream,
    variants: &[Variant],
    tagged: bool,
    part: &TokenStream,
) -> TokenStream {
    let variants = variants.iter().map(|variant| {
        let told: Vec<&Field> = variant.fields.iter().filter(|field| !field.attributes.skip).collect();
        let fields = told.iter().map(|field| {
            let (name, ty) = (field.name(), &field.ty);
            let range = field.attributes.range.as_ref().map(|(min, max)| {
                quote_spanned! {field.span()=>
                    let __range: ::core::ops::RangeInclusive<<#ty as #kit::InRange>::Bound> = #min..=#max;
                    __shape.range(&__range);
                }
            });
            let max = field
                .attributes
                .max
                .as_ref()
                .map(|max| quote!({ let __max: usize = #max; __shape.number(__max as u64); }));
            quote_spanned! {field.span()=>
                __shape.word(#name);
                <#ty as #part>::shape(__shape);
                #range
                #max
            }
        });
        let tag = tagged.then(|| {
            let name = &variant.name;
            quote!(__shape.word(#name);)
        });
        let count = told.len() as u64;
        quote!(#tag __shape.number(#count); #(#fields)*)
    });
    quote! {
        fn shape(__shape: &mut #kit::Shape) {
            __shape.within(::core::any::type_name::<Self>(), |__shape| { #(#variants)* });
        }
    }
}

/// The generics, with the bound on each type parameter.
pub(crate) fn bounded(generics: &Generics, bound: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#bound));
    }
    generics
}

pub(crate) fn is_enum(item: &DeriveInput) -> bool {
    matches!(item.data, Data::Enum(_))
}
