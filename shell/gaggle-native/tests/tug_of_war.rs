//! The README's example of an online game, as the README describes it.

#[test]
fn online_main_has_under_forty_lines_and_readme_names_it() {
    let example = include_str!("../examples/tug_of_war/main.rs");
    let (_, main) = example.split_once("fn main").expect("a main");
    let lines = main.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines < 40, "main has {lines} lines");
    let readme = include_str!("../../../README.md");
    assert!(
        readme.contains("`shell/gaggle-native/examples/tug_of_war/main.rs`"),
        "the README does not name it"
    );
}
