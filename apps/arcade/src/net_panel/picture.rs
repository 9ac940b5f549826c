//! Drawing of the network panel: a line, or a panel with a graph for every link and for all
//! traffic. `NetPanel` calls it. Absent: figures.

use gaggle_scene::{Color, Scene, View, font, palette};

use super::{LinkFacts, NetPanel};
use crate::pen::{Pen, Rect, fitted, grouped};

/// Full scale of round-trip graphs, unless a link's is longer: equal for all links, so that graphs
/// can be compared.
const RTT_FULL_MS: u32 = 200;
/// Height of a link's figures without a graph, and with one.
const LINK_SHORT: i32 = 21;
const LINK_LONG: i32 = 40;
/// Height of a graph's heading, and of the graph.
const GRAPH_HEAD: i32 = 12;
const GRAPH: i32 = 21;
/// Number of general graphs: depth, predictions, packets.
const GRAPHS: usize = 3;
/// Lines of figures in the place of a graph.
const SHARED_LINES: usize = 3;
/// Height of the panel's heading, and of the line under it.
const HEAD: i32 = 19;
const FOOT: i32 = 15;

/// First row below the plaques, where the game draws no text.
fn top(view: View) -> i32 {
    let plaques = (view.top.max(0) + 15) * view.scale / view.word_scale + 2;
    if view.word_width() < view.word_height() { 4 } else { plaques }
}

/// Free rows below that.
fn room(view: View, top: i32) -> i32 {
    let world = view.top * view.scale / view.word_scale;
    // Upright, the rows above the world; if those are too few, all rows.
    if view.word_width() < view.word_height() && world > 120 {
        world - top - 2
    } else {
        view.word_height() - top - 4
    }
}

pub(super) fn line(panel: &NetPanel, scene: &mut Scene, view: View, left_half: bool) {
    let mut pen = Pen::new(scene, view);
    let words = panel.words();
    let text = fitted(&words, view.word_width() - 24, false);
    let wide = font::width(&text, false, 0) + 12;
    let x = if left_half { 6 } else { view.word_width() - wide - 6 };
    let place = Rect::new(x.max(0), top(view).min(view.word_height() - 15).max(0), wide, 15);
    pen.card(place, if panel.facts.agree == Some(false) { palette::WARN } else { palette::MIST[0] });
    pen.text(&text, place.x + 6, place.y + 4, wide, palette::DIM);
}

pub(super) fn panel(panel: &NetPanel, scene: &mut Scene, view: View, left_half: bool) {
    let top = top(view).min(view.word_height() / 3);
    let room = room(view, top);
    let plan = Plan::of(panel, room);
    let wide = 221.min(view.word_width() - 8);
    let tall = plan.tall().min(room);
    let margin = 8.min((view.word_width() - wide) / 2);
    let x = if left_half { margin } else { view.word_width() - wide - margin };
    let card = Rect::new(x, top, wide, tall);
    let mut pen = Pen::new(scene, view);
    pen.card(card, palette::MIST[0]);
    let mut inner = card.grown(-6);
    let facts = &panel.facts;
    pen.bold("Net", inner.x, inner.y, 30, palette::TEXT);
    let frame = format!("frame {} · {} fps", grouped(i64::from(facts.frame)), facts.pictures_per_second);
    pen.text(&frame, inner.x + 26, inner.y, inner.wide - 80, palette::DIM);
    pen.text("F3 closes", inner.right(), inner.y, 50, palette::FAINT).right();
    inner.y += HEAD - 4;
    for link in facts.links.iter().take(plan.links) {
        let place =
            Rect::new(inner.x, inner.y, inner.wide, if plan.link_graphs { LINK_LONG } else { LINK_SHORT });
        one_link(&mut pen, panel, link, place, plan.link_graphs);
        inner.y += place.tall;
    }
    if facts.links.is_empty() && plan.graphs > 0 {
        pen.text("Alone. Nothing to wait for.", inner.x, inner.y, inner.wide, palette::DIM);
        inner.y += LINK_SHORT;
    }
    if plan.graphs > 0 {
        pen.fill(Rect::new(inner.x, inner.y, inner.wide, 1), palette::NIGHT[3], 1.0);
        inner.y += 5;
        for nth in 0..plan.graphs {
            graph(&mut pen, panel, nth, inner.x, inner.y, inner.wide);
            inner.y += GRAPH_HEAD + GRAPH;
        }
    }
    foot(&mut pen, panel, plan.graphs < GRAPHS, Rect::new(inner.x, card.bottom() - 13, inner.wide, 9));
}

/// Parts with room: first all links, then their graphs, then the general graphs.
struct Plan {
    links: usize,
    link_graphs: bool,
    graphs: usize,
}

impl Plan {
    fn of(panel: &NetPanel, room: i32) -> Plan {
        let all = panel.facts.links.len();
        let fixed = HEAD + FOOT;
        let links = all.min(((room - fixed) / LINK_SHORT).max(0) as usize);
        let mut plan = Plan { links, link_graphs: false, graphs: 0 };
        for (link_graphs, graphs) in [(true, GRAPHS), (false, GRAPHS), (true, 1), (false, 1), (true, 0)] {
            let wished = Plan { links, link_graphs, graphs };
            if wished.tall() <= room {
                plan = wished;
                break;
            }
        }
        plan
    }

    fn tall(&self) -> i32 {
        let link = if self.link_graphs { LINK_LONG } else { LINK_SHORT };
        let links = if self.links == 0 && self.graphs > 0 { LINK_SHORT } else { self.links as i32 * link };
        let graphs = if self.graphs > 0 { 5 + self.graphs as i32 * (GRAPH_HEAD + GRAPH) } else { 0 };
        HEAD + links + graphs + FOOT
    }
}

fn one_link(pen: &mut Pen<'_>, panel: &NetPanel, link: &LinkFacts, place: Rect, with_graph: bool) {
    let Rect { x, y, wide, .. } = place;
    let color = link.seat.and_then(|seat| palette::SEATS_SIX.get(seat)).copied().unwrap_or(palette::DIM);
    let mut left = x;
    if let Some(seat) = link.seat.filter(|seat| *seat < palette::SEATS_SIX.len()) {
        pen.emblem(seat, true, x - 1, y - 2);
        left += 13;
    }
    let rtt = format!("{} ms", link.rtt_ms);
    let rtt_wide = font::width(&rtt, false, 0);
    let tag = font::width(link.path, false, 0) + 7;
    // The name gets the columns that the figures leave free.
    let name = fitted(&link.name, x + wide - rtt_wide - 6 - tag - 4 - left, false);
    let tag_x = (left + font::width(&name, false, 0) + 4).max(x + 68.min(wide / 3));
    pen.text(&name, left, y, wide, color);
    let path_color = match link.path {
        "direct" => palette::OK,
        "relay" => palette::WARN,
        _ => palette::BONE,
    };
    pen.panel(Rect::new(tag_x, y - 2, tag, 11), palette::INK, 0.0, Some(path_color));
    pen.text(link.path, tag_x + 4, y, tag, path_color);
    let room = x + wide - rtt_wide - 6 - (tag_x + tag + 4);
    pen.text(&rtt, x + wide, y, rtt_wide, palette::TEXT).right();
    if link.lead && font::width("lead", false, 0) <= room {
        pen.text("lead", tag_x + tag + 4, y, room, palette::FAINT);
    }
    let jitter = format!("±{} ms jitter", link.jitter_ms);
    let lost = format!("{}.{}% lost", link.loss_permille / 10, link.loss_permille % 10);
    let lost_color = if link.loss_permille >= 10 { palette::WARN } else { palette::DIM };
    if !with_graph {
        pen.text(&jitter, x + 13, y + 10, wide / 2 - 13, palette::DIM);
        pen.text(&lost, x + wide, y + 10, wide / 2, lost_color).right();
        return;
    }
    let graph_wide = wide * 58 / 100;
    pen.text(&jitter, x + wide, y + 12, wide - graph_wide - 4, palette::DIM).right();
    pen.text(&lost, x + wide, y + 23, wide - graph_wide - 4, lost_color).right();
    let Some(past) = panel.links.iter().find(|past| past.is_of(link)) else { return };
    let area = Rect::new(x, y + 10, graph_wide, 20);
    let count = graph_wide as usize;
    let longest = panel.links.iter().flat_map(|past| past.rtt.recent(count)).max();
    let full = longest.unwrap_or(0).max(RTT_FULL_MS);
    curve(pen, area, past.rtt.recent(count), full, palette::MIST[1], palette::DIM);
    let skip = count.saturating_sub(past.lost.recent(count).count()) as i32;
    for (column, lost) in past.lost.recent(count).enumerate() {
        if lost > 0 {
            let at = Rect::new(area.x + skip + column as i32, area.bottom() - 3, 1, 3);
            pen.fill(at, palette::BAD, 1.0);
        }
    }
}

/// Draws one of the general graphs: depth, predictions, bytes.
fn graph(pen: &mut Pen<'_>, panel: &NetPanel, nth: usize, x: i32, y: i32, wide: i32) {
    let facts = &panel.facts;
    let count = wide as usize;
    let area = Rect::new(x, y + GRAPH_HEAD - 1, wide, GRAPH - 4);
    if nth < 2 && !facts.shared.is_empty() {
        let lines = facts.shared.iter().skip(SHARED_LINES * nth).take(SHARED_LINES);
        for (row, (label, figure)) in (0..).zip(lines) {
            pen.text(label, x, y + 11 * row, wide / 2, palette::TEXT);
            pen.text(figure, x + wide, y + 11 * row, wide / 2, palette::DIM).right();
        }
        return;
    }
    let mut heading = |left: &str, right: &str, color: Color| {
        let taken = font::width(left, false, 0);
        pen.text(left, x, y, wide, palette::TEXT);
        pen.text(right, x + wide, y, wide - taken - 6, color).right();
    };
    match nth {
        0 if facts.is_lockstep() => {
            let color =
                if panel.depth.recent(count).any(|stall| stall > 0) { palette::WARN } else { palette::DIM };
            heading("Stalls", &format!("{} in all", facts.stalled), color);
            bars(pen, area, panel, count);
        }
        1 if facts.is_lockstep() => {
            let slowest = facts.links.iter().max_by_key(|link| link.rtt_ms);
            let words = slowest.map_or(String::new(), |link| format!("{}, {} ms", link.name, link.rtt_ms));
            heading("Slowest", &words, palette::DIM);
        }
        0 => {
            let worst = panel.depth.recent(count).max().unwrap_or(0);
            let close = worst > 0 && worst.saturating_add(1) >= facts.rollback_window;
            let color = if close { palette::WARN } else { palette::DIM };
            heading("Rollback depth", &format!("worst {worst} of {}", facts.rollback_window), color);
            bars(pen, area, panel, count);
        }
        1 => {
            heading("Guessed inputs", &format!("{} ahead", facts.guessed), palette::DIM);
            let full = panel.guessed.recent(count).max().unwrap_or(0).max(facts.rollback_window).max(1);
            curve(pen, area, panel.guessed.recent(count), full, palette::MOON_SHADE, palette::MOON);
        }
        _ => {
            let (down, up) = (rate(facts.bytes_in_per_second), rate(facts.bytes_out_per_second));
            let packets = format!("{} packets/s", facts.packets_per_second);
            heading(&packets, &format!("{down} in, {up} out"), palette::DIM);
            let full = panel.bytes.recent(count).max().unwrap_or(0).max(1);
            curve(
                pen,
                area,
                panel.bytes.recent(count),
                full.saturating_add(full),
                palette::OK.mix(palette::INK, 0.3),
                palette::OK,
            );
        }
    }
}

/// Draws a bar for every rollback, brighter the closer it is to the prediction window.
fn bars(pen: &mut Pen<'_>, area: Rect, panel: &NetPanel, count: usize) {
    let window = panel.facts.rollback_window.max(1);
    pen.fill(Rect::new(area.x, area.bottom(), area.wide, 1), palette::NIGHT[3], 1.0);
    let skip = count.saturating_sub(panel.depth.recent(count).count()) as i32;
    for (column, depth) in panel.depth.recent(count).enumerate() {
        let tall = (u64::from(depth.min(window)) * area.tall as u64 / u64::from(window)) as i32;
        let color = match depth {
            0 => continue,
            _ if depth >= window => palette::BAD,
            _ if depth.saturating_add(1) >= window => palette::WARN,
            _ => palette::MIST[1],
        };
        pen.fill(
            Rect::new(area.x + skip + column as i32, area.bottom() - tall.max(2), 1, tall.max(2)),
            color,
            1.0,
        );
    }
}

/// Draws a filled curve, newest at the right.
fn curve(
    pen: &mut Pen<'_>,
    area: Rect,
    values: impl Iterator<Item = u32>,
    full: u32,
    fill: Color,
    edge: Color,
) {
    let values: Vec<u32> = values.collect();
    pen.fill(Rect::new(area.x, area.bottom(), area.wide, 1), palette::NIGHT[3], 1.0);
    let left = area.right() - values.len() as i32;
    for (column, value) in values.iter().enumerate() {
        let share = u64::from(*value.min(&full)) * (area.tall - 1) as u64 / u64::from(full.max(1));
        let (x, tall) = (left + column as i32, share as i32 + 1);
        pen.fill(Rect::new(x, area.bottom() - tall, 1, tall), fill, 0.45);
        pen.fill(Rect::new(x, area.bottom() - tall, 1, 1), edge, 1.0);
    }
}

/// Figures without a line of their own: packets, if there is no room for their graph.
fn foot(pen: &mut Pen<'_>, panel: &NetPanel, with_packets: bool, place: Rect) {
    let facts = &panel.facts;
    let (agree, color) = match facts.agree {
        Some(true) => ("all agree", palette::OK),
        Some(false) => ("they differ", palette::BAD),
        None => ("", palette::FAINT),
    };
    let taken = font::width(agree, false, 0);
    let kind = match (crate::HAS_LOBBY, facts.delay_is_fixed) {
        (false, _) => "",
        (true, true) => ", fixed",
        (true, false) => ", automatic",
    };
    let frames = if facts.input_delay == 1 { "frame" } else { "frames" };
    let delay = facts.shared.is_empty().then(|| format!("Delay {} {frames}{kind}", facts.input_delay));
    let packets = with_packets.then(|| format!("{} packets/s", facts.packets_per_second));
    let text = delay.into_iter().chain(packets).collect::<Vec<_>>().join(" · ");
    pen.text(&text, place.x, place.y, place.wide - taken - 6, palette::DIM);
    pen.text(agree, place.right(), place.y, place.wide, color).right();
}

/// A rate such as `2.1 kB` per second.
fn rate(bytes: u32) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..100_000 => format!("{}.{} kB", bytes / 1_000, bytes / 100 % 10),
        _ => format!("{} kB", bytes / 1_000),
    }
}
