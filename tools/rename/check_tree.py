#!/usr/bin/env python3
"""Looks for names that no longer fit together, in ten seconds and without a compiler.

usage: tools/rename/check_tree.py ROOT [BASELINE.txt]

Prints imports of our own crates that lead nowhere, paths `Type::name` without such a name, and
fields in literals and patterns that their struct does not have. It knows no types and macros, so it
errs now and then: save its output before renaming and give that file as BASELINE afterwards, then
only new findings are printed."""
import os, sys, collections
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import second_pass as S

tree = S.Tree(os.path.abspath(sys.argv[1]))
members = collections.defaultdict(set)   # (crate, type) -> names
fields = collections.defaultdict(set)    # (file, container) -> fields
derived = {'default', 'clone', 'from', 'try_from', 'into', 'eq', 'cmp', 'new', 'fmt', 'from_str', 'Err', 'Error',
           'Item', 'Target', 'Output', 'ALL', 'KINDS', 'as_str', 'from_word', 'kind', 'from_iter', 'hash', 'drop'}
for it in tree.items:
    if it.container not in ('-', '(fn)'):
        members[(it.crate, it.container)].add(it.name)
        if it.kind == 'field':
            fields[(it.file, it.container)].add(it.name)
trait_names = collections.Counter(n for it in tree.items if it.trait_impl for n in [it.name])
found = []


def line(f, at):
    return tree.text[f].count('\n', 0, at) + 1


for f, code in tree.code.items():
    for path, alias, glob, _ in S.use_leaves(code):
        words = [t.text for t in path]
        if words and words[-1] == 'self':
            words = words[:-1]
        if words and (words[0] in tree.packages or words[0] in ('crate', 'super', 'self')) and len(words) > 1:
            if not tree.resolve(f, words) and words[0] != 'gaggle_derive':
                found.append('%s: import %s' % (f, '::'.join(words)))
    for name, paths in tree.imports[f].items():
        ents = {(e[1].file, e[1].at) for p in paths if p != [name] for e in tree.resolve(f, p)
                if e[0] == 'item' and (e[1].kind in S.TYPE_KINDS)}
        own = {(it.file, it.at) for it in tree.by_file[f] if it.name == name and it.container == '-' and it.kind in S.TYPE_KINDS}
        if len(ents | own) > 1:
            found.append('%s: two meanings of %s' % (f, name))
    tops = collections.Counter(it.name for it in tree.by_file[f] if it.container == '-' and it.kind in S.TYPE_KINDS)
    found += ['%s: defined twice %s' % (f, n) for n, c in tops.items() if c > 1]
    inner = collections.Counter((it.container, it.name, it.kind, it.trait_impl) for it in tree.by_file[f] if it.container not in ('-', '(fn)'))
    found += ['%s: twice %s::%s' % (f, k[0], k[1]) for k, c in inner.items() if c > 1]
    impls, braces = S.impl_ranges(code), S.brace_openers(code)
    helper = S.Renamer.__new__(S.Renamer)
    helper.tree = tree
    for i, t in enumerate(code):
        if t.kind != 'ident' or i == 0:
            continue
        if code[i - 1].text == '::' and (i + 1 >= len(code) or True):
            ents = S.Renamer.path_before(helper, f, code, i, impls)
            for e in ents:
                if e[0] == 'assoc' and e[1].kind in ('enum', 'struct', 'trait'):
                    names = members[(e[1].crate, e[1].name)]
                    if e[2] not in names and e[2] not in derived and not trait_names[e[2]] and e[2] != 'self':
                        traits_have = any(x.kind == 'fn' or x.kind == 'const' for x in tree.by_name[e[2]] if x.container != '-' and
                                          any(y.kind == 'trait' and y.name == x.container for y in tree.by_name[x.container]))
                        if not traits_have:
                            found.append('%s: path %s::%s' % (f, e[1].name, e[2]))
        if code[i - 1].text in ('{', ',') and i + 1 < len(code) and code[i + 1].text in (':', ',', '}') and t.text[0].islower():
            o = braces.get(i)
            if o is None or o == 0:
                continue
            k = o - 1
            if code[k].kind != 'ident' or not code[k].text[0].isupper() or (k and code[k - 1].text in (
                    'struct', 'enum', 'trait', 'impl', 'for', 'union', 'dyn', '->', '&', '+', ':', 'mut', 'in', '=>', '==', '=', '(') and
                    code[k - 1].text not in ('=', '(', '=>', '&')):
                continue
            if code[k - 1].text == '::':
                ents = S.Renamer.path_before(helper, f, code, k, impls)
            elif code[k].text == 'Self':
                hit = S.enclosing(impls, k)
                ents = tree.resolve(f, hit) if hit else []
            else:
                ents = tree.start(f, code[k].text)
            for e in ents[:1]:
                if e[0] == 'item' and e[1].kind == 'struct':
                    have = fields[(e[1].file, e[1].name)]
                elif e[0] == 'assoc' and e[1].kind == 'enum':
                    have = fields[(e[1].file, e[2])]
                else:
                    continue
                if have and t.text not in have:
                    found.append('%s: field %s of %s' % (f, t.text, code[k].text))
methods = {it.name for it in tree.items if it.kind in ('fn', 'macro')}
held = {it.name for it in tree.items if it.kind == 'field'}
for f, code in tree.code.items():
    for i, t in enumerate(code[:-1]):
        if i and code[i - 1].text == '.' and t.kind == 'ident':
            call = code[i + 1].text in ('(', '::')
            if t.text not in (methods if call else held | {'await'}):
                found.append('%s: .%s%s' % (f, t.text, '()' if call else ''))
per_type = collections.defaultdict(set)
for it in tree.items:
    if it.kind in ('fn', 'const') and it.container not in ('-', '(fn)') and not it.trait_impl:
        per_type[(it.crate, it.container, it.name)].add(it.file)
found += ['%s: %s::%s in two files' % (k[0], k[1], k[2]) for k, v in per_type.items() if len(v) > 1]
known = collections.Counter(open(sys.argv[2]).read().split('\n')) if len(sys.argv) > 2 else collections.Counter()
for w in found:
    if known[w] > 0:
        known[w] -= 1
    else:
        print(w)
