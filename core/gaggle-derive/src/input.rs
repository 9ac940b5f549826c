//! Code of `#[derive(Input)]`.
//! `lib.rs` calls it. Absent: parsing of attributes.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{DeriveInput, Result};

use crate::attributes::{Derive, OneShot, TypeAttributes};
use crate::fields::{Field, Variant, bounded, is_enum, shape, variants};

pub(crate) fn expand(item: &DeriveInput) -> Result<TokenStream> {
    let kit = &TypeAttributes::parse(&item.attrs, Derive::Input)?.kit;
    let variants = variants(item, Derive::Input)?;
    let tagged = is_enum(item);
    let (size, write) = (size(kit, &variants, tagged), write(kit, &variants, tagged));
    let read = read(kit, &variants, tagged, &item.ident.to_string());
    let (merge, repeat, new_player) =
        (merge(kit, &variants), repeat(kit, &variants), new_player(kit, &variants));
    let begun_since = begun_since(kit, &variants);
    let shape = shape(kit, &variants, tagged, &quote!(#kit::Input));

    let name = &item.ident;
    let generics = bounded(&item.generics, &quote!(#kit::Input));
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (_, type_generics, _) = item.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics #kit::Input for #name #type_generics #where_clause {
            #size
            #shape
            #write
            #read
            #merge
            #repeat
            #begun_since
            #new_player
        }
    })
}

fn size(kit: &TokenStream, variants: &[Variant], tagged: bool) -> TokenStream {
    let sizes = variants.iter().map(|variant| {
        let sizes = variant.fields.iter().map(|field| {
            let ty = &field.ty;
            quote_spanned!(field.span()=> + <#ty as #kit::Input>::SIZE)
        });
        quote!(0 #(#sizes)*)
    });
    let tag = usize::from(tagged);
    quote! {
        const SIZE: usize = {
            let __sizes = [#(#sizes),*];
            let mut __largest = 0;
            let mut __index = 0;
            while __index < __sizes.len() {
                if __sizes[__index] > __largest {
                    __largest = __sizes[__index];
                }
                __index += 1;
            }
            #tag + __largest
        };
    }
}

fn write(kit: &TokenStream, variants: &[Variant], tagged: bool) -> TokenStream {
    let arms = variants.iter().zip(0_u8..).map(|(variant, tag)| {
        let pattern = variant.pattern("f");
        let tag = tagged.then(|| {
            quote! {
                let (__part, __out) = __out.split_at_mut(1);
                __part[0] = #tag;
            }
        });
        let fields = variant.fields.iter().map(|field| {
            let (ty, variable) = (&field.ty, field.variable("f"));
            quote_spanned! {field.span()=>
                let (__part, __out) = __out.split_at_mut(<#ty as #kit::Input>::SIZE);
                <#ty as #kit::Input>::write(#variable, __part);
            }
        });
        quote!(#pattern => { #tag #(#fields)* __out.fill(0); })
    });
    quote! {
        fn write(&self, __out: &mut [u8]) {
            ::core::assert_eq!(__out.len(), <Self as #kit::Input>::SIZE, "an input has its size");
            match self { #(#arms)* }
        }
    }
}

fn read(kit: &TokenStream, variants: &[Variant], tagged: bool, name: &str) -> TokenStream {
    let value = |variant: &Variant| {
        let path = &variant.path;
        let fields = variant.fields.iter().map(|field| {
            let (member, value) = (&field.member, read_field(kit, field));
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
            let __value = match __r.u8(#name)? {
                #(#arms)*
                __tag => return ::core::result::Result::Err(#kit::DecodeError::Unknown {
                    what: #name,
                    value: ::core::convert::From::from(__tag),
                }),
            };
            // Bytes beyond a smaller variant must be zero, or an input would have several
            // encodings.
            if __r.rest().iter().any(|&__byte| __byte != 0) {
                return ::core::result::Result::Err(#kit::DecodeError::NotCanonical { what: #name });
            }
            ::core::result::Result::Ok(__value)
        }
    } else {
        let value = value(&variants[0]);
        quote!(::core::result::Result::Ok(#value))
    };
    quote! {
        fn read(__bytes: &[u8]) -> ::core::result::Result<Self, #kit::DecodeError> {
            let mut __r = #kit::ByteReader::exactly(#name, __bytes, <Self as #kit::Input>::SIZE)?;
            let _ = &mut __r;
            #body
        }
    }
}

fn read_field(kit: &TokenStream, field: &Field) -> TokenStream {
    let (ty, what, span) = (&field.ty, &field.what, field.span());
    let read = quote_spanned! {span=>
        <#ty as #kit::Input>::read(__r.take(#what, <#ty as #kit::Input>::SIZE)?)
            .map_err(|__error| #kit::DecodeError::or_named(__error, #what))?
    };
    match &field.attributes.range {
        None => read,
        Some((min, max)) => quote_spanned!(span=> {
            let __value: #ty = #read;
            <#ty as #kit::InRange>::check_range(&__value, &(#min..=#max), #what)?;
            __value
        }),
    }
}

fn merge(kit: &TokenStream, variants: &[Variant]) -> TokenStream {
    let same = variants.iter().map(|variant| {
        let (earlier, later) = (variant.pattern("a"), variant.pattern("b"));
        let path = &variant.path;
        let fields = variant.fields.iter().map(|field| {
            let (member, merged) = (&field.member, merge_field(kit, field));
            quote!(#member: #merged,)
        });
        quote!((#earlier, #later) => #path { #(#fields)* },)
    });
    let once = variants.iter().filter(|variant| variant.one_shot).map(|variant| &variant.path);
    let kept = variants.iter().any(|variant| variant.one_shot).then(|| {
        let once: Vec<&TokenStream> = once.collect();
        let otherwise = variants.iter().filter(|variant| !variant.one_shot).map(|variant| &variant.path);
        quote!((__earlier @ (#(#once { .. })|*), #(#otherwise { .. })|*) => __earlier,)
    });
    let kept = if variants.iter().all(|variant| variant.one_shot) { None } else { kept };
    let otherwise = (variants.len() > 1).then(|| quote!((_, __later) => __later,));
    quote! {
        fn merge(__earlier: Self, __later: Self) -> Self {
            match (__earlier, __later) { #(#same)* #kept #otherwise }
        }
    }
}

fn merge_field(kit: &TokenStream, field: &Field) -> TokenStream {
    let (ty, earlier, later) = (&field.ty, field.variable("a"), field.variable("b"));
    match &field.attributes.one_shot {
        None => quote_spanned!(field.span()=> <#ty as #kit::Input>::merge(#earlier, #later)),
        Some(OneShot::All) => quote_spanned!(field.span()=> <#ty as #kit::OneShot>::merge(#earlier, #later)),
        Some(OneShot::Bits(bits)) => quote_spanned!(field.span()=> #later | (#earlier & #bits)),
    }
}

fn repeat(kit: &TokenStream, variants: &[Variant]) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let path = &variant.path;
        if variant.one_shot {
            return quote!(#path { .. } => ::core::default::Default::default(),);
        }
        let pattern = variant.pattern("f");
        let fields = variant.fields.iter().map(|field| {
            let (member, ty, variable) = (&field.member, &field.ty, field.variable("f"));
            let repeated = match &field.attributes.one_shot {
                None => quote_spanned!(field.span()=> <#ty as #kit::Input>::repeat(#variable)),
                Some(OneShot::All) => quote!(::core::default::Default::default()),
                Some(OneShot::Bits(bits)) => quote_spanned!(field.span()=> #variable & !#bits),
            };
            quote!(#member: #repeated,)
        });
        quote!(#pattern => #path { #(#fields)* },)
    });
    quote! {
        fn repeat(self) -> Self {
            match self { #(#arms)* }
        }
    }
}

fn begun_since(kit: &TokenStream, variants: &[Variant]) -> TokenStream {
    let arms = variants.iter().filter(|variant| !variant.one_shot).map(|variant| {
        let (path, now, before) = (&variant.path, variant.pattern("a"), variant.pattern("b"));
        let fields = variant.fields.iter().map(|field| {
            let (member, ty) = (&field.member, &field.ty);
            let (now, before) = (field.variable("a"), field.variable("b"));
            let begun = match &field.attributes.one_shot {
                None => quote_spanned!(field.span()=> <#ty as #kit::Input>::begun_since(#now, #before)),
                Some(OneShot::All) => {
                    quote_spanned!(field.span()=> <#ty as #kit::OneShot>::without(#now, #before))
                }
                Some(OneShot::Bits(bits)) => quote_spanned!(field.span()=> #now & !(#before & #bits)),
            };
            quote!(#member: #begun,)
        });
        quote!((#now, #before) => #path { #(#fields)* },)
    });
    let is_one_shot = variants.iter().any(|variant| variant.one_shot);
    let once = is_one_shot
        .then(|| quote!((__now, __before) if __now == __before => <Self as #kit::Input>::repeat(__now),));
    let otherwise = (variants.len() > 1 || is_one_shot).then(|| quote!((__now, _) => __now,));
    quote! {
        fn begun_since(self, __before: Self) -> Self {
            match (self, __before) { #(#arms)* #once #otherwise }
        }
    }
}

fn new_player(kit: &TokenStream, variants: &[Variant]) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let (path, pattern) = (&variant.path, variant.pattern_of("f", |field| !field.attributes.new_player));
        let fields = variant.fields.iter().map(|field| {
            let (member, ty, variable) = (&field.member, &field.ty, field.variable("f"));
            let said = if field.attributes.new_player {
                quote_spanned!(field.span()=> true)
            } else {
                quote_spanned!(field.span()=> <#ty as #kit::Input>::mark_new_player(#variable))
            };
            quote!(#member: #said,)
        });
        quote!(#pattern => #path { #(#fields)* },)
    });
    quote! {
        fn mark_new_player(self) -> Self {
            match self { #(#arms)* }
        }
    }
}
