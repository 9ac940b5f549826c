#!/usr/bin/env python3
"""Checks the table against the tree as it is now, and says anew which rows need no types.

usage: tools/rename/check_table.py ROOT TABLE.tsv [--write]

Prints rows whose item is not there (or there twice), rows that would rename data (a JSON name, a field or
variant that is hashed into a fingerprint), clashes within one type or crate, and rows whose sixth column should
be another by now; --write corrects that column. Needs `rustup component add rust-src` for the names of std."""
import collections, glob, os, re, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import second_pass as S

root, table = os.path.abspath(sys.argv[1]), sys.argv[2]
tree = S.Tree(root)
lines = open(table, encoding='utf8').read().split('\n')
rows = [S.Row(l) for l in lines if l.strip() and l[0] != '#']
sysroot = subprocess.run(['rustc', '--print', 'sysroot'], stdout=subprocess.PIPE).stdout.decode().strip()
std = set()
for part in ('core', 'alloc', 'std'):
    for f in glob.glob(sysroot + '/lib/rustlib/src/rust/library/%s/src/**/*.rs' % part, recursive=True):
        if not re.search(r'/os/|/sys/|simd|/tests', f):
            std.update(re.findall(r"\bfn\s+(\w+)\s*(?:<[^(]*>)?\(\s*(?:&\s*(?:'\w+\s+)?)?(?:mut\s+)?self", open(f, errors='replace').read()))
if not std:
    print('no source of std: methods of std are not recognised')
by = collections.defaultdict(list)
for it in tree.items:
    by[(it.crate, it.container, it.name)].append(it)
new_of, used = {}, collections.Counter()
for r in rows:
    hits = [it for it in by[(r.crate, r.container, r.old)] if it.file.endswith(r.where) and not it.trait_impl and it.kind != 'mod']
    hits = [it for it in hits if '/src/' in it.file] or hits
    hits.sort(key=lambda it: it.kind == 'field')
    r.item = hits[min(used[(r.crate, r.container, r.old)], len(hits) - 1)] if hits and not r.where else (hits[0] if hits else None)
    if r.item and (r.item.file, r.item.at) in new_of and len(hits) > 1:  # the second row means the field
        r.item = next((h for h in hits if (h.file, h.at) not in new_of), r.item)
    if not r.item:
        print('MISSING %r' % r)
        continue
    if len({h.file for h in hits}) > 1:
        print('SEVERAL %r: %s' % (r, [h.file for h in hits]))
    if r.item.data:
        print('DATA %r %s:%d' % (r, r.item.file, r.item.line))
    new_of[(r.item.file, r.item.at)] = r.new
trait_rows = {(r.container, r.old): r.new for r in rows}
test = re.compile(r'/(tests|examples|benches)/|/harness|/hostile|^bench/|^fuzz/|usurpers|impostors|_attacks|/codec/tests')
OF_OTHERS = ('to', 'play', 'fill', 'host', 'set_palette')  # methods of other crates that are called here
changed = {}
for r in rows:
    x = r.item
    if not x:
        continue
    if x.kind != 'field' and (x.kind != 'fn' or r.container == '-' or not x.has_self):
        mode = 'path'
    else:
        hard = r.old in std and x.kind == 'fn' or r.old in OF_OTHERS
        for y in tree.by_name[r.old]:
            if y.kind != x.kind or y.container == '-':
                continue
            new = new_of.get((y.file, y.at)) or (trait_rows.get((y.trait_impl, y.name)) if y.trait_impl else None)
            # a method of a test may get the new name along with the others; a field's literals would not follow
            soft = x.kind == 'fn' and test.search(y.file) and not y.data and not y.trait_impl and new is None and not by[(y.crate, y.container, r.new)]
            hard = hard or not (new == r.new or soft)
        mode = 'ra' if hard else 'plain'
    if mode != r.mode:
        print('%r: %s instead of %s' % (r, mode, r.mode))
        changed[(r.crate, r.container, r.old, r.where)] = mode
    for y in by[(r.crate, r.container, r.new)]:
        if (y.file, y.at) not in new_of and {x.kind, y.kind} != {'fn', 'field'} and not (r.container == '-' and y.file != x.file):
            print('CLASH %r with %s:%d' % (r, y.file, y.line))
if '--write' in sys.argv and changed:
    out = []
    for l in lines:
        f = l.split('\t')
        if l.strip() and l[0] != '#' and (f[0], f[1], f[2], f[4]) in changed:
            f[5] = changed[(f[0], f[1], f[2], f[4])]
            l = '\t'.join(f)
        out.append(l)
    open(table, 'w', encoding='utf8').write('\n'.join(out))
print('%d rows: %s' % (len(rows), dict(collections.Counter(r.mode for r in rows))))
