// An element that shows what the network does. Absent: rooms.

const EVERY_MS = 250;

/** The lines of the panel. */
export function panelLines(room, last) {
  if (room.isClosed) return ['closed'];
  if (room.error) return [room.error.message];
  const figures = room.figures;
  const lines = [
    `${room.phase}${room.code ? ` in ${room.code}` : ''}, frame ${figures.frame}`,
    `delay ${figures.inputDelay}, predicted ${Math.max(0, figures.frame - figures.confirmedFrame)} frames`,
    `${figures.rollbacks} rollbacks (deepest ${figures.deepestRollback}), ${figures.stalledTicks} stalled`,
  ];
  if (figures.recoveries > 0) lines.push(`${figures.recoveries} desyncs repaired`);
  for (const { isLocal, peer, name, path, rtt, loss, bytesIn, bytesOut } of room.members) {
    if (isLocal) continue;
    const before = last.get(peer) ?? bytesIn + bytesOut;
    last.set(peer, bytesIn + bytesOut);
    const rate = Math.max(0, (bytesIn + bytesOut - before) / EVERY_MS);
    const ms = rtt === null ? '–' : rtt.toFixed(0);
    lines.push(`${name}: ${path ?? 'no path'}, ${ms} ms, loss ${(100 * loss).toFixed(1)} %, ${rate.toFixed(1)} kB/s`);
  }
  const waiting = room.waitingFor;
  if (waiting.length > 0) lines.push(`waiting for ${waiting.length}`);
  return lines;
}

/** An element that is kept up to date while it is in a document. */
export function makePanel(room) {
  const panel = document.createElement('pre');
  panel.className = 'gaggle-panel';
  Object.assign(panel.style, {
    position: 'fixed', top: '8px', left: '8px', margin: '0', padding: '6px 8px', zIndex: '9',
    font: '12px/1.4 monospace', color: '#dfe6ee', background: '#10141fcc', pointerEvents: 'none',
  });
  const last = new Map();
  let wasShown = false;
  const show = () => {
    panel.textContent = panelLines(room, last).join('\n');
    if (wasShown && !panel.isConnected) clearInterval(timer);
    wasShown ||= panel.isConnected;
  };
  const timer = setInterval(show, EVERY_MS);
  show();
  return panel;
}
