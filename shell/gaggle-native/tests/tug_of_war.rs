//! What the README promises about getting online.

#[test]
fn a_game_is_online_in_under_forty_lines_and_the_readme_shows_them() {
    let example = include_str!("../examples/tug_of_war/main.rs");
    let (_, main) = example.split_once("fn main").expect("a main");
    let lines = main.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines < 40, "main has {lines} lines");
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&format!("fn main{}", main.trim_end())), "the README shows another main");
}
