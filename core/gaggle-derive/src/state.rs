//! Code of `#[derive(State)]`.
//! `lib.rs` calls it. Absent: parsing of attributes.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{DeriveInput, Error, Result};

use crate::attributes::{Derive, TypeAttributes};
use crate::fields::{Field, Variant, bounded, is_enum, shape, variants};

pub(crate) fn expand(item: &DeriveInput) -> Result<TokenStream> {
    let attributes = TypeAttributes::parse(&item.attrs, Derive::State)?;
    let variants = variants(item, Derive::State)?;
    let kit = &attributes.kit;
    let methods = if attributes.pod {
        if is_enum(item) {
            return Err(Error::new_spanned(
                &item.ident,
                "an enum has forbidden bit patterns: it cannot be `pod`",
            ));
        }
        if let Some(skipped) = variants[0].fields.iter().find(|field| field.attributes.skip) {
            return Err(Error::new_spanned(
                &skipped.member,
                "a `pod` type is all of its bytes: nothing can be skipped",
            ));
        }
        pod_methods(kit, &variants[0])
    } else {
        let tagged = is_enum(item);
        let name = item.ident.to_string();
        let (size_min, encode) = (size_min(kit, &variants, tagged), encode(kit, &variants, tagged));
        let (decode, copy_from) = (decode(kit, &variants, tagged, &name), copy_from(kit, &variants));
        quote!(#size_min #encode #decode #copy_from)
    };
    let shape = shape(kit, &variants, is_enum(item), &quote!(#kit::State));
    let diff = diff(kit, &variants);

    let name = &item.ident;
    let generics = bounded(&item.generics, &quote!(#kit::State));
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (_, type_generics, _) = item.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics #kit::State for #name #type_generics #where_clause {
            #shape
            #methods
            #diff
        }
    })
}

fn size_min(kit: &TokenStream, variants: &[Variant], tagged: bool) -> TokenStream {
    if tagged {
        // Only the tag: the size of a variant that contains the enum itself would be infinite.
        return quote!(
            const SIZE_MIN: usize = 1;
        );
    }
    let sizes = encoded(&variants[0]).map(|field| {
        let ty = &field.ty;
        quote_spanned!(field.span()=> + <#ty as #kit::State>::SIZE_MIN)
    });
    quote!(const SIZE_MIN: usize = 0 #(#sizes)*;)
}

fn encode(kit: &TokenStream, variants: &[Variant], tagged: bool) -> TokenStream {
    let arms = variants.iter().zip(0_u8..).map(|(variant, tag)| {
        let pattern = variant.pattern_of("f", |field| !field.attributes.skip);
        let tag = tagged.then(|| quote!(#kit::ByteSink::put(__out, &[#tag]);));
        let fields = encoded(variant).map(|field| {
            let (ty, variable) = (&field.ty, field.variable("f"));
            quote_spanned!(field.span()=> <#ty as #kit::State>::encode(#variable, __out);)
        });
        quote!(#pattern => { #tag #(#fields)* })
    });
    quote! {
        fn encode<__Sink: #kit::ByteSink>(&self, __out: &mut __Sink) {
            let _ = &__out;
            match self { #(#arms)* }
        }
    }
}

fn decode(kit: &TokenStream, variants: &[Variant], tagged: bool, name: &str) -> TokenStream {
    let value = |variant: &Variant| {
        let path = &variant.path;
        let fields = variant.fields.iter().map(|field| {
            let (member, value) = (&field.member, decode_field(kit, field));
            quote!(#member: #value,)
        });
        quote!(#path { #(#fields)* })
    };
    let body = if tagged {
        let arms = variants.iter().zip(0_u8..).map(|(variant, tag)| {
            let value = value(variant);
            quote!(#tag => #value,)
        });
        quote! {
            match __r.u8(#name)? {
                #(#arms)*
                __tag => return ::core::result::Result::Err(#kit::DecodeError::Unknown {
                    what: #name,
                    value: ::core::convert::From::from(__tag),
                }),
            }
        }
    } else {
        value(&variants[0])
    };
    quote! {
        // Once for every type, not for every field of it, because pages are loaded over the
        // network.
        #[cfg_attr(target_arch = "wasm32", inline(never))]
        fn decode(__r: &mut #kit::ByteReader<'_>) -> ::core::result::Result<Self, #kit::DecodeError> {
            let _ = &__r;
            ::core::result::Result::Ok(#body)
        }
    }
}

fn decode_field(kit: &TokenStream, field: &Field) -> TokenStream {
    let (ty, what, span) = (&field.ty, &field.what, field.span());
    if field.attributes.skip {
        return quote_spanned!(span=> <#ty as ::core::default::Default>::default());
    }
    let decode = match &field.attributes.max {
        Some(max) => quote_spanned!(span=> <#ty as #kit::Bounded>::decode_bounded(__r, #max)),
        None => quote_spanned!(span=> <#ty as #kit::State>::decode(__r)),
    };
    let named = quote!(#decode.map_err(|__error| #kit::DecodeError::or_named(__error, #what))?);
    match &field.attributes.range {
        None => named,
        Some((min, max)) => quote_spanned!(span=> {
            let __value: #ty = #named;
            <#ty as #kit::InRange>::check_range(&__value, &(#min..=#max), #what)?;
            __value
        }),
    }
}

fn copy_from(kit: &TokenStream, variants: &[Variant]) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let (ours, theirs) = (variant.pattern("a"), variant.pattern("b"));
        let fields = variant.fields.iter().map(|field| {
            let (ty, ours, theirs) = (&field.ty, field.variable("a"), field.variable("b"));
            if field.attributes.skip {
                // Copied as well: it was computed from the state that is copied.
                quote!(::core::clone::Clone::clone_from(#ours, #theirs);)
            } else {
                quote_spanned!(field.span()=> <#ty as #kit::State>::copy_from(#ours, #theirs);)
            }
        });
        quote!((#ours, #theirs) => { #(#fields)* })
    });
    let otherwise = (variants.len() > 1)
        .then(|| quote!((__ours, __theirs) => *__ours = ::core::clone::Clone::clone(__theirs),));
    quote! {
        fn copy_from(&mut self, __other: &Self) {
            match (self, __other) { #(#arms)* #otherwise }
        }
    }
}

fn diff(kit: &TokenStream, variants: &[Variant]) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let wanted = |field: &Field| !field.attributes.skip;
        let (ours, theirs) = (variant.pattern_of("a", wanted), variant.pattern_of("b", wanted));
        let fields = encoded(variant).map(|field| {
            let (ty, name) = (&field.ty, field.name());
            let (ours, theirs) = (field.variable("a"), field.variable("b"));
            let diff = quote_spanned!(field.span()=> <#ty as #kit::State>::diff);
            quote!(__path.field(#name, |__path| #diff(#ours, #theirs, __path, __report));)
        });
        quote!((#ours, #theirs) => { #(#fields)* })
    });
    let otherwise = (variants.len() > 1).then(|| {
        let names: Vec<TokenStream> = variants
            .iter()
            .map(|variant| {
                let (path, name) = (&variant.path, &variant.name);
                quote!(#path { .. } => #name,)
            })
            .collect();
        quote! {
            (__left, __right) => {
                let __name = |__side: &Self| match __side { #(#names)* };
                __report(#kit::FieldDiff {
                    path: __path.as_str(),
                    left: &__name(__left),
                    right: &__name(__right),
                });
            }
        }
    });
    quote! {
        fn diff(
            &self,
            __other: &Self,
            __path: &mut #kit::FieldPath,
            __report: &mut dyn ::core::ops::FnMut(#kit::FieldDiff<'_>),
        ) {
            let _ = (&__path, &__report);
            match (self, __other) { #(#arms)* #otherwise }
        }
    }
}

/// Checks the whole value at once, then the rules of each field.
fn pod_methods(kit: &TokenStream, variant: &Variant) -> TokenStream {
    let checks = variant.fields.iter().map(|field| {
        let (member, ty, what, span) = (&field.member, &field.ty, &field.what, field.span());
        let range = field.attributes.range.as_ref().map(|(min, max)| {
            quote_spanned! {span=>
                <#ty as #kit::InRange>::check_range(&self.#member, &(#min..=#max), #what)?;
            }
        });
        quote_spanned! {span=>
            <#ty as #kit::State>::validate(&self.#member)
                .map_err(|__error| #kit::DecodeError::or_named(__error, #what))?;
            #range
        }
    });
    quote! {
        const SIZE_MIN: usize = ::core::mem::size_of::<Self>();

        fn encode<__Sink: #kit::ByteSink>(&self, __out: &mut __Sink) {
            #kit::ByteSink::put(__out, #kit::bytemuck::bytes_of(self));
        }

        fn decode(__r: &mut #kit::ByteReader<'_>) -> ::core::result::Result<Self, #kit::DecodeError> {
            #kit::pod::decode(__r)
        }

        fn copy_from(&mut self, __other: &Self) {
            *self = *__other;
        }

        fn validate(&self) -> ::core::result::Result<(), #kit::DecodeError> {
            #(#checks)*
            ::core::result::Result::Ok(())
        }

        fn encode_all<__Sink: #kit::ByteSink>(__values: &[Self], __out: &mut __Sink) {
            #kit::pod::encode_all(__values, __out);
        }

        fn decode_vec(
            __r: &mut #kit::ByteReader<'_>,
            __count: usize,
        ) -> ::core::result::Result<::std::vec::Vec<Self>, #kit::DecodeError> {
            #kit::pod::decode_vec(__r, __count)
        }

        fn decode_array<const __N: usize>(
            __r: &mut #kit::ByteReader<'_>,
        ) -> ::core::result::Result<[Self; __N], #kit::DecodeError> {
            #kit::pod::decode_array(__r)
        }
    }
}

/// Fields that are part of the encoding.
fn encoded(variant: &Variant) -> impl Iterator<Item = &Field> {
    variant.fields.iter().filter(|field| !field.attributes.skip)
}
