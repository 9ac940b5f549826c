//! Paths of gaggle-kit and gaggle-replica in the calling crate: dependencies of their own, or
//! inside `gaggle`.
//! Every derive starts its code with one. Absent: generated code.

use std::path::Path;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The path of gaggle-kit as the calling crate must write it.
///
/// Cargo tells a macro nothing about its caller's dependencies, so the manifest is read. Without
/// one (other build systems) the crate's own name is used; `crate = …` in the attribute overrides
/// both.
pub(crate) fn kit_path() -> TokenStream {
    path_of("gaggle-kit", "kit")
}

/// The path of gaggle-replica, as the calling crate must write it.
pub(crate) fn replica_path() -> TokenStream {
    path_of("gaggle-replica", "replica")
}

fn path_of(package: &str, inside: &str) -> TokenStream {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .and_then(|folder| std::fs::read_to_string(Path::new(&folder).join("Cargo.toml")).ok())
        .unwrap_or_default();
    match find(&manifest, package) {
        Place::Itself(name) => {
            let name = Ident::new(&name, Span::call_site());
            quote!(::#name)
        }
        Place::Inside(name) => {
            let (name, inside) =
                (Ident::new(&name, Span::call_site()), Ident::new(inside, Span::call_site()));
            quote!(::#name::#inside)
        }
    }
}

#[derive(Debug, PartialEq)]
enum Place {
    Itself(String),
    Inside(String),
}

/// Looks for the package or `gaggle` among the dependencies, under any name. The package has
/// priority: a crate that depends on it does so on purpose.
fn find(manifest: &str, wanted: &str) -> Place {
    let mut facade = None;
    for (name, package) in dependencies(manifest) {
        let name = name.replace('-', "_");
        if package == wanted {
            return Place::Itself(name);
        }
        if package == "gaggle" {
            facade = Some(name);
        }
    }
    match facade {
        Some(name) => Place::Inside(name),
        None => Place::Itself(wanted.replace('-', "_")),
    }
}

/// Name and package of each dependency, as far as single lines show it. For other TOML there is
/// `crate = …`.
fn dependencies(manifest: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut in_list = false;
    let mut in_table_of_one = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']').trim();
            in_list = header.ends_with("dependencies");
            let one = header.rsplit_once('.').filter(|(list, _)| list.ends_with("dependencies"));
            in_table_of_one = one.is_some();
            if let Some((_, name)) = one {
                found.push((unquoted(name), unquoted(name)));
            }
        } else if let Some((key, value)) = line.split_once('=') {
            if in_table_of_one && key.trim() == "package" {
                if let Some((_, package)) = found.last_mut() {
                    *package = unquoted(value);
                }
            } else if in_list && !line.starts_with('#') {
                // Either `name = …` or `name.workspace = true`.
                let name = unquoted(key.split('.').next().unwrap_or(key));
                let package = value.split_once("package").and_then(|(_, rest)| rest.split('"').nth(1));
                found.push((name.clone(), package.map_or(name, str::to_owned)));
            }
        }
    }
    found
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(manifest: &str, expected: &Place) {
        assert_eq!(find(manifest, "gaggle-kit"), *expected, "{manifest}");
    }

    #[test]
    fn either_crate_is_found_under_any_name() {
        let itself = |name: &str| Place::Itself(name.to_owned());
        let inside = |name: &str| Place::Inside(name.to_owned());
        check("[dependencies]\ngaggle-kit = \"1\"", &itself("gaggle_kit"));
        check("[dependencies]\ngaggle.workspace = true\ngaggle-kit.workspace = true", &itself("gaggle_kit"));
        check("[dependencies]\ngaggle = { path = \"..\" }", &inside("gaggle"));
        check("[dev-dependencies.gaggle]\npath = \"..\"", &inside("gaggle"));
        check("[dependencies]\nkit = { package = \"gaggle-kit\", version = \"1\" }", &itself("kit"));
        check("[dependencies.net]\nversion = \"1\"\npackage = \"gaggle\"", &inside("net"));
        check("[target.'cfg(unix)'.dependencies]\ngaggle = \"1\"", &inside("gaggle"));
    }

    #[test]
    fn other_lines_are_no_dependencies() {
        let default = || Place::Itself("gaggle_kit".to_owned());
        check("", &default());
        check("[package]\nname = \"gaggle\"\n[features]\ngaggle = []", &default());
        check("[dependencies]\n# gaggle = \"1\"\nserde = \"1\"", &default());
        check("[dependencies]\ngaggle-link = \"1\"", &default());
    }
}
