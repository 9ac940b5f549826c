#!/usr/bin/env python3
"""Renames by the table what needs no types, in code of every target, in doctests, comments and documents.

usage: tools/rename/second_pass.py ROOT TABLE.tsv [--dry-run] [--rows path,plain,ra] [--files GLOB]...
                                   [--only code|prose] [--report FILE]
       tools/rename/second_pass.py ROOT TABLE.tsv --definitions [--dry-run]
       tools/rename/second_pass.py ROOT TABLE.tsv --rustc MESSAGES.json [--dry-run]
       tools/rename/second_pass.py ROOT TABLE.tsv --move FILES.tsv [--dry-run]

The sixth column of the table says how a row can be renamed:
  path   types, traits, constants, variants, functions without self: found by imports and paths
  plain  methods and fields whose every definition in the tree gets the same new name
  ra     methods and fields whose name means several things: only rust-analyzer (rename.py) or rustc knows

Without options: all `path` and `plain` rows in all Rust files of the tree (bench, fuzz and code for
wasm32 as well), in doctests, and in comments and Markdown where the word stands in backticks.
--files GLOB  only these files, and `ra` rows too where all rows with the old name agree on the new one:
              for code that rust-analyzer does not see. Check with the compiler.
--definitions the definitions of `ra` rows alone: --rustc then finds every use. Instead of rename.py,
              where that is not at hand.
--rustc FILE  output of `cargo check --message-format=json`: renames exactly the words that rustc does
              not find and that the table renames. Run until nothing is left.
--move FILE   `git mv` of modules, and `mod` and paths that name them (columns: crate, old, new).
Never touched: string literals, JSON names and other data, CHANGELOG.md, corpora, vectors, goldens."""
import collections, fnmatch, json, os, re, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rust_index as R

SKIP_MD = ('CHANGELOG.md',)
KEYWORDS = {'crate', 'self', 'super', 'Self'}
# Variables of examples and what they are.
RECEIVERS = (('room', ('Room', 'SharedRoom')), ('couch', ('Room',)), ('recorded', ('Room',)), ('session', ('Session',)),
             ('host', ('Session',)), ('playback', ('Playback',)), ('inputs', ('Inputs',)), ('keys', ('Keys',)),
             ('picture', ('Picture',)), ('person', ('Person',)), ('bundle', ('Bundle',)), ('pace', ('Pace',)))
STD_METHODS = {'all', 'any', 'send', 'remove', 'start', 'update', 'build', 'take', 'fill', 'seek', 'connect', 'wake', 'to',
               'first', 'last', 'text', 'name', 'report', 'bar', 'key', 'kept', 'keep', 'left', 'rest', 'number', 'member'}
TYPE_KINDS = ('struct', 'enum', 'trait', 'type', 'union')


class Row:
    def __init__(self, line):
        f = line.rstrip('\n').split('\t') + [''] * 6
        self.crate, self.container, self.old, self.new, self.where, self.mode = f[:6]
        self.item, self.kind = None, None

    def __repr__(self):
        return '%s %s::%s -> %s' % (self.crate, self.container, self.old, self.new)


class Tree:
    """All Rust files with tokens, items, imports; answers what a path in a file means."""

    def __init__(self, root):
        self.root = root
        self.text, self.toks, self.code = {}, {}, {}
        self.items, self.by_file, self.by_name = [], collections.defaultdict(list), collections.defaultdict(list)
        self.imports, self.globs, self.mods = {}, {}, {}
        self.cache, self.busy, self.elsewhere = {}, set(), {}
        for f in R.tree_files(root):
            if '/corpus/' in f or '/vectors/' in f:
                continue
            text = open(os.path.join(root, f), encoding='utf8').read()
            self.add_file(f, text)
        self.packages = {}
        for f in R.tree_files(root, ('Cargo.toml',)):
            name = re.search(r'^name\s*=\s*"([^"]+)"', open(os.path.join(root, f)).read(), re.M)
            folder = os.path.dirname(f)
            lib = next((p for p in ('src/lib.rs', 'src/main.rs') if folder + '/' + p in self.text), None)
            if name and lib:
                self.packages[name.group(1).replace('-', '_')] = folder + '/' + lib

    def add_file(self, f, text):
        self.text[f], self.toks[f] = text, R.tokens(text)
        self.code[f] = [t for t in self.toks[f] if t.kind not in ('doc', 'line', 'block')]
        found = R.items(f, text, self.toks[f])
        self.by_file[f] = found
        self.items += found
        for it in found:
            self.by_name[it.name].append(it)
        self.imports[f], self.globs[f], self.mods[f] = self.read_uses(self.code[f])
        self.mods[f] = {it.name for it in found if it.kind == 'mod'}
        c = self.code[f]
        for i, t in enumerate(c):  # #[path = "…"] mod name;
            if t.text == 'path' and i + 5 < len(c) and c[i - 1].text == '[' and c[i + 1].text == '=' and c[i + 4].text in ('mod', 'pub'):
                name = c[i + 5].text if c[i + 4].text == 'mod' else c[i + 6].text
                self.elsewhere[(f, name)] = os.path.normpath(os.path.join(os.path.dirname(f), c[i + 2].text.strip('"')))

    @staticmethod
    def read_uses(code):
        """Leaves of all `use` trees: name -> list of paths; globs; and the tokens of each leaf."""
        names, globs = collections.defaultdict(list), []
        for path, alias, glob, _ in use_leaves(code):
            words = [t.text for t in path]
            if glob:
                globs.append(words)
                continue
            if words and words[-1] == 'self':
                words = words[:-1]
            if words:
                names[alias.text if alias else words[-1]].append(words)
        return names, globs, None

    # ----- modules -----
    def child(self, f, name):
        if self.elsewhere.get((f, name)) in self.text:
            return self.elsewhere[(f, name)]
        d, stem = os.path.dirname(f), os.path.basename(f)[:-3]
        bases = [d] if stem in ('mod', 'lib', 'main') else [d + '/' + stem, d]
        for b in bases:
            for c in (b + '/' + name + '.rs', b + '/' + name + '/mod.rs'):
                if c in self.text:
                    return c
        return f  # an inline module

    def parent(self, f):
        d, stem = os.path.dirname(f), os.path.basename(f)[:-3]
        if stem in ('lib', 'main'):
            return None
        if stem == 'mod':
            d = os.path.dirname(d)
        for c in (d + '/mod.rs', d + '.rs', d + '/lib.rs', d + '/main.rs'):
            if c in self.text and c != f:
                return c
        return None

    def root_of(self, f):
        m = re.match(r'(.*?/src)/', f)
        if m:
            if '/src/bin/' in f:
                return f
            for c in ('/lib.rs', '/main.rs'):
                if m.group(1) + c in self.text:
                    return m.group(1) + c
        return None

    # ----- names -----
    def resolve(self, f, words):
        """Entities a path can mean: ('file', f), ('item', Item), ('assoc', Item, name), ('ext',)."""
        key = (f, tuple(words))
        if key in self.cache:
            return self.cache[key]
        if key in self.busy or len(self.busy) > 60:
            return []
        self.busy.add(key)
        out = self.start(f, words[0])
        for w in words[1:]:
            nxt = []
            for e in out:
                nxt += self.member(e, w, f)
            out = nxt
        self.busy.discard(key)
        if not self.busy:
            self.cache[key] = out
        return out

    def start(self, f, w):
        if w == 'crate':
            r = self.root_of(f)
            return [('file', r)] if r else [('tests', f)]
        if w == 'self':
            return [('file', f)]
        if w == 'super':
            p = self.parent(f)
            # From an inline module, `super` is this file: both are looked at, this one first.
            return [('super', f, p)]
        found = self.member(('file', f), w, f)
        if found:
            return found
        if w in self.packages:
            return [('file', self.packages[w])]
        return []

    def member(self, e, w, f):
        if e[0] == 'item':
            it = e[1]
            if it.kind == 'type':
                target = self.alias_target(it)
                if target:
                    return [x for t in target for x in self.member(t, w, f)]
            return [('assoc', it, w)] if it.kind in TYPE_KINDS else []
        if e[0] == 'super':
            if w == 'super':
                return [('super', e[2], self.parent(e[2]))] if e[2] else []
            here = self.own(e[1], w) if any(it.name == w and it.container == '-' for it in self.by_file[e[1]]) else []
            up = self.member(('file', e[2]), w, f) if e[2] else []
            return up or here
        if e[0] == 'tests':
            near = [it for it in self.by_name[w] if it.container == '-' and R.crate_of(it.file) == R.crate_of(f)
                    and '/tests/' in it.file]
            return [('item', it) for it in near if it.kind != 'mod'] or [
                ('file', self.child(it.file, w)) for it in near if it.kind == 'mod'][:1]
        if e[0] != 'file':
            return []
        g = e[1]
        if w == 'super':
            p = self.parent(g)
            return [('file', p)] if p else []
        if w == 'self':
            return [e]
        found = self.own(g, w)
        if found:
            return found
        for path in self.imports[g].get(w, []):
            if path == [w]:
                if w in self.packages:
                    found += [('file', self.packages[w])]
                continue
            found += self.resolve(g, path)
        if found:
            return unique(found)
        if self.imports[g].get(w):
            return [('ext',)]
        for path in self.globs[g]:
            for t in self.resolve(g, path):
                if t[0] == 'super':
                    t = ('file', t[2]) if t[2] else None
                if t and t[0] == 'item' and t[1].kind == 'enum':
                    if any(v.name == w and v.kind == 'variant' and v.container == t[1].name and v.file == t[1].file
                           for v in self.by_file[t[1].file]):
                        found += [('assoc', t[1], w)]
                elif t and t[0] == 'file' and t[1] != g and ('glob', t[1], w) not in self.busy:
                    self.busy.add(('glob', t[1], w))
                    found += self.member(t, w, f)
                    self.busy.discard(('glob', t[1], w))
        return unique(found)

    def own(self, g, w):
        found = []
        for it in self.by_file[g]:
            if it.name != w or it.trait_impl:
                continue
            if it.kind == 'mod':
                found.append(('file', self.child(g, w)))
            elif it.container in ('-', '(fn)') and it.kind in TYPE_KINDS + ('fn', 'const', 'macro'):
                found.append(('item', it))
        return found

    def alias_target(self, it):
        code = self.code[it.file]
        i = next((k for k, t in enumerate(code) if t.at == it.at), None)
        while i is not None and i < len(code) and code[i].text not in ('=', ';'):
            i += 1
        words = []
        while i is not None and i + 1 < len(code) and code[i + 1].kind == 'ident':
            words.append(code[i + 1].text)
            if i + 2 < len(code) and code[i + 2].text == '::':
                i += 2
            else:
                break
        return self.resolve(it.file, words) if words and words[0] != it.name else []


def unique(found):
    out = []
    for e in found:
        if e not in out:
            out.append(e)
    return out


def use_leaves(code):
    """(path tokens, alias token or None, is glob, all tokens) of each leaf of each `use` declaration."""
    i, n = 0, len(code)
    while i < n:
        if code[i].text == 'use' and code[i].kind == 'ident' and (
                i == 0 or code[i - 1].text in (';', '}', '{', ']', ')', 'pub')) and i + 1 < n and code[i + 1].text != '<':
            j = i + 1
            prefix, stack, alias = [], [], None
            while j < n:
                t = code[j]
                if t.text == ';':
                    if prefix:
                        yield list(prefix), alias, False, t
                    break
                if t.text == '::' or t.text == '$':
                    pass
                elif t.text == '{':
                    stack.append(len(prefix))
                elif t.text == '*':
                    yield list(prefix), None, True, t
                    prefix_len = stack[-1] if stack else 0
                    prefix, alias = prefix[:prefix_len], None
                elif t.text in (',', '}'):
                    base = stack[-1] if stack else 0
                    if len(prefix) > base:
                        yield list(prefix), alias, False, t
                    alias = None
                    if t.text == '}':
                        stack.pop()
                        prefix = prefix[:stack[-1] if stack else 0]
                        # what stands before a group is no leaf of its own
                        if not stack:
                            prefix = []
                    else:
                        prefix = prefix[:base]
                elif t.text == 'as':
                    alias = code[j + 1]
                    j += 1
                elif t.kind == 'ident':
                    prefix.append(t)
                else:
                    break
                j += 1
            i = j
        i += 1


class Renamer:
    def __init__(self, tree, rows, modes, aggressive=()):
        self.tree, self.rows, self.modes, self.aggressive = tree, rows, modes, set(aggressive)
        self.item_new, self.assoc_new = {}, collections.defaultdict(dict)
        self.methods, self.fields = collections.defaultdict(set), collections.defaultdict(set)
        self.any_methods, self.any_fields = collections.defaultdict(set), collections.defaultdict(set)
        self.notes, self.ambiguous = [], collections.Counter()
        self.prose_item, self.prose_assoc = collections.defaultdict(set), collections.defaultdict(set)
        self.trait_new = collections.defaultdict(set)  # name of an item of a trait -> (new, trait)
        for r in rows:
            self.place(r)
        # Names that stay for some item of the tree: a lone word in a document may mean that one.
        self.stays = collections.defaultdict(int)
        for it in tree.items:
            if it.kind in TYPE_KINDS + ('const',) and it.container == '-' and '/src/' in it.file and it.public == 'pub' and it.file.startswith(('core/', 'shell/', 'games/')) and (it.file, it.at) not in self.item_new:
                self.stays[it.name] += 1

    def place(self, r):
        tree = self.tree
        # The container may have its new name already.
        homes = {r.container} | {q.new for q in self.rows if q.crate == r.crate and q.old == r.container and r.container != '-'}
        hits = [it for it in tree.by_name[r.old] if it.crate == r.crate and it.container in homes and not it.trait_impl
                and it.kind != 'mod' and (not r.where or it.file.endswith(r.where))]
        hits = [it for it in hits if '/src/' in it.file] or hits
        hits.sort(key=lambda it: it.kind == 'field')
        if not hits:
            done = [it for it in tree.by_name[r.new] if it.crate == r.crate]
            if not done and r.mode != 'ra':
                self.notes.append('MISSING %r' % r)
        r.item = hits[0] if hits else None
        after = [it for it in tree.by_name[r.new] if it.crate == r.crate and it.container in homes and not it.trait_impl]
        r.kind = (hits or after or [None])[0] and (hits or after)[0].kind
        self.prose_item[r.old].add(r.new) if r.container == '-' else self.prose_assoc[(r.container, r.old)].add(r.new)
        if r.container == '-':
            if r.item and r.mode in self.modes:
                self.item_new[(r.item.file, r.item.at)] = r.new
            return
        owners = [it for it in tree.by_name[r.container] if it.crate == r.crate and it.kind in TYPE_KINDS]
        if r.item and len(owners) > 1:
            owners = [it for it in owners if it.file == r.item.file] or [
                e[1] for e in tree.resolve(r.item.file, [r.container]) if e[0] == 'item'] or owners
        kind = r.kind or 'fn'
        for o in owners[:1]:
            self.assoc_new[(o.file, o.at)][r.old] = (r.new, kind, r.mode)
            if o.kind == 'trait' and r.mode in self.modes and r.mode != 'ra':
                self.trait_new[r.old].add((r.new, o.name, o.file, o.at))
        if kind == 'fn':
            self.any_methods[r.old].add(r.new)
            if r.mode == 'plain':
                self.methods[r.old].add(r.new)
        if kind == 'field':
            self.any_fields[r.old].add(r.new)
            if r.mode == 'plain':
                self.fields[r.old].add(r.new)

    # ----- code -----
    def new_of(self, entities, where, word):
        """The one new name of what the entities mean, or None."""
        news = set()
        if any(e[0] in ('item', 'assoc') for e in entities):  # a module of the same name is another matter
            entities = [e for e in entities if e[0] != 'file']
        if len(entities) > 1:  # of several types with that name, the one that has such a member
            have = [e for e in entities if e[0] == 'assoc' and any(
                it.container == e[1].name and it.crate == e[1].crate and (it.kind != 'variant' or it.file == e[1].file)
                for it in self.tree.by_name[e[2]])]
            entities = have or entities
        for e in entities:
            if e[0] == 'item':
                news.add(self.item_new.get((e[1].file, e[1].at)))
            elif e[0] == 'assoc':
                hit = self.assoc_new.get((e[1].file, e[1].at), {}).get(e[2])
                ok = hit and (hit[2] in self.modes) and (hit[1] in ('variant', 'const', 'type') or hit[2] in ('path', 'plain') or where in self.aggressive)
                news.add(hit[0] if ok else None)
            else:
                news.add(None)
        if len(news) == 1:
            return news.pop()
        if news - {None}:
            self.ambiguous[(where, word)] += 1
        return None

    def file_edits(self, f):
        tree, edits = self.tree, {}
        code = tree.code[f]
        self.use_edits(f, code, edits)
        self.body_edits(f, code, edits)
        for it in tree.by_file[f]:
            new = self.item_new.get((it.file, it.at))
            if new:
                edits[it.at] = (it.name, new)
            elif it.trait_impl and it.name in self.trait_new:
                new = self.of_trait(f, it.trait_impl, it.name)
                if new:
                    edits[it.at] = (it.name, new)
        for r in self.rows:
            if r.item and r.item.file == f and r.mode in self.modes and (r.mode != 'ra' or f in self.aggressive):
                edits[r.item.at] = (r.old, r.new)
        return edits

    def of_trait(self, f, trait, name):
        """New name of an item of a trait that is implemented in this file."""
        known = [e[1] for e in self.tree.start(f, trait) if e[0] == 'item']
        news = {new for new, t, file, at in self.trait_new[name] if t == trait and (
            not known or any((k.file, k.at) == (file, at) for k in known))}
        return news.pop() if len(news) == 1 else None

    def use_edits(self, f, code, edits):
        self.in_use = set()
        for path, alias, glob, _ in use_leaves(code):
            words = [t.text for t in path]
            for k, t in enumerate(path):
                self.in_use.add(t.at)
                if t.text in KEYWORDS or (k == 0 and t.text in self.tree.packages):
                    continue
                parent = self.tree.resolve(f, words[:k]) if k else None
                if k:
                    found = unique([x for e in parent for x in self.tree.member(e, t.text, f)])
                else:
                    found = self.tree.start(f, t.text)
                if k < len(path) - 1 or glob:
                    found = [e for e in found if e[0] != 'item' or e[1].kind in TYPE_KINDS]
                new = self.new_of(found, f, t.text)
                if new:
                    edits[t.at] = (t.text, new)
            if alias:
                self.in_use.add(alias.at)

    def body_edits(self, f, code, edits, crate_file=None):
        tree, n = self.tree, len(code)
        impls = impl_ranges(code)
        braces = brace_openers(code)
        aggressive = f in self.aggressive
        defs = {it.at: it for it in tree.by_file[f]}
        for i, t in enumerate(code):
            if t.kind != 'ident' or t.at in self.in_use or t.at in edits:
                continue
            if t.at in defs and defs[t.at].kind in ('variant', 'mod', 'const', 'type') + TYPE_KINDS:
                continue
            prev = code[i - 1].text if i else ''
            nxt = code[i + 1].text if i + 1 < n else ''
            w = t.text
            if prev == '.' and not (i > 1 and code[i - 2].text == '.'):
                is_call = nxt == '(' or (nxt == '::' and i + 2 < n and code[i + 2].text == '<')
                table = self.methods if is_call else self.fields
                wide = self.any_methods if is_call else self.any_fields
                news = table.get(w) or (self.guess(code, i, w, is_call) if aggressive else None)
                if news and 'plain' in self.modes:
                    if len(news) == 1:
                        edits[t.at] = (w, next(iter(news)))
                    else:
                        self.ambiguous[(f, '.' + w)] += 1
                continue
            if prev == 'fn':
                news = self.methods.get(w)
                if news and len(news) == 1 and 'plain' in self.modes and t.at in defs and defs[t.at].has_self:
                    edits[t.at] = (w, next(iter(news)))
                continue
            if prev == '::':
                found = self.path_before(f, code, i, impls)
                new = self.new_of(found, f, w)
                if not new and w in self.methods and 'plain' in self.modes and len(self.methods[w]) == 1 and w[0].islower():
                    # a method called by path: of a type that defines it with self, or of one we do not know
                    owners = [e[1] for e in found if e[0] == 'assoc']
                    if not found or any(it.has_self and it.container == o.name and it.crate == o.crate
                                        for o in owners for it in tree.by_name[w]):
                        new = next(iter(self.methods[w]))
                if not new and w in self.trait_new and len({x[0] for x in self.trait_new[w]}) == 1:
                    # T::NAME of a parameter, or Type::NAME of a type that implements the trait
                    traits = {x[1] for x in self.trait_new[w]}
                    owners = [e[1] for e in found if e[0] == 'assoc']
                    if not found or any(it.trait_impl in traits and it.container == o.name for o in owners for it in tree.by_name[w]):
                        new = next(iter(self.trait_new[w]))[0]
                if new:
                    edits[t.at] = (w, new)
                continue
            # a field in a literal, a pattern or a declaration
            if prev in ('{', ',', 'ref', 'mut', '&', ']', 'pub', ')', '|') and nxt in (':', ',', '}', '@', '|'):
                opener = braces.get(i)
                if opener is not None:
                    new = self.field_of_literal(f, code, opener, w, impls)
                    if new:
                        if nxt == ':':
                            edits[t.at] = (w, new)
                        elif nxt in (',', '}', '@'):
                            k = i
                            while code[k - 1].text in ('ref', 'mut', '&'):
                                k -= 1
                            edits.setdefault(code[k].at, ('', new + ': '))
                        continue
                    if nxt == ':' and w[0].islower():
                        continue
            if w[0].isupper() or nxt in ('(', '!', '::') or w.isupper():
                if nxt == '::' and w[0].islower() and w not in tree.mods.get(f, ()):
                    pass
                if w in KEYWORDS:
                    continue
                found = tree.start(f, w)
                if nxt == '::':
                    found = [e for e in found if e[0] != 'item' or e[1].kind in TYPE_KINDS]
                new = self.new_of(found, f, w)
                if new:
                    edits[t.at] = (w, new)
            elif w in self.prose_item:  # a function used as a value
                found = [e for e in tree.start(f, w) if e[0] == 'item' and e[1].kind == 'fn']
                if found and nxt in (',', ')', ';') and prev in ('(', ',', '='):
                    new = self.new_of(found, f, w)
                    local = any(code[k].text == w and code[k - 1].text in ('let', 'mut', '|', '(', ',') and
                                code[k + 1].text in (':', '=', '|', ',') for k in range(max(1, i - 400), min(n - 1, i)))
                    if new and not local:
                        edits[t.at] = (w, new)

    def guess(self, code, i, w, is_call):
        """New names of a method or field by what the variable before it is called, or by the word alone if nothing else has it."""
        before = code[i - 2].text if i >= 2 and code[i - 2].kind == 'ident' else ''
        kind = 'fn' if is_call else 'field'
        rows = [r for r in self.rows if r.old == w and r.container != '-' and r.kind == kind]
        for ending, owners in RECEIVERS:
            if before.endswith(ending):
                return {r.new for r in rows if r.container in owners}
        if self.common(w) or w in STD_METHODS:
            if rows:
                self.ambiguous[('doctests and --files', '.' + w)] += 1
            return None
        return {r.new for r in rows}

    def path_before(self, f, code, i, impls):
        """What the word at `i` means, with the path before it."""
        words, k = [code[i].text], i
        while k >= 2 and code[k - 1].text == '::':
            b = code[k - 2]
            if b.kind == 'ident':
                words.insert(0, b.text)
                k -= 2
            elif b.text == '>':  # Type::<..>::name or <Type as Trait>::name
                depth, q = 0, k - 2
                while q >= 0:
                    depth += {'>': 1, '<': -1}.get(code[q].text, 0)
                    if depth == 0:
                        break
                    q -= 1
                if q >= 1 and code[q - 1].text == '::' and code[q - 2].kind == 'ident':
                    words.insert(0, code[q - 2].text)
                    k = q - 2
                elif q >= 1 and code[q - 1].kind == 'ident' and code[q - 1].text[0].isupper():
                    words.insert(0, code[q - 1].text)
                    k = q - 1
                else:
                    inner = [t.text for t in code[q + 1:k - 2] if t.kind == 'ident' or t.text == '::']
                    if 'as' in inner:
                        inner = inner[inner.index('as') + 1:]
                    inner = [x for x in inner if x != '::']
                    if not inner or inner[0] == 'Self':
                        return []
                    return self.tree.resolve(f, inner[:1] + [words[0]]) if len(words) == 1 else []
            else:
                break
        if k >= 1 and code[k - 1].text == '#' and f.startswith('core/gaggle-derive/'):
            base = {'replica': 'gaggle_replica', 'kit': 'gaggle_kit'}.get(words[0])
            if base:
                return self.tree.resolve(f, [base] + words[1:])
        if words[0] == 'Self':
            hit = enclosing(impls, i)
            if not hit:
                return []
            words = hit + words[1:]
        return self.tree.resolve(f, words)

    def field_of_literal(self, f, code, opener, w, impls):
        """New name of field `w` of the struct or variant whose braces open at token `opener`."""
        if w not in self.any_fields:
            return None
        k = opener - 1
        if k >= 0 and code[k].text == '>':
            depth = 0
            while k >= 0:
                depth += {'>': 1, '<': -1}.get(code[k].text, 0)
                if depth == 0:
                    break
                k -= 1
            k -= 1
            if k >= 0 and code[k].text == '::':
                k -= 1
        if k < 0 or code[k].kind != 'ident' or not code[k].text[0].isupper():
            return None
        if k >= 1 and code[k - 1].text in ('impl', 'for', 'trait', 'mod', 'fn', 'dyn', '->', ':') and code[k - 1].text != ':':
            return None
        name = code[k].text
        if k >= 1 and code[k - 1].text == '::':
            found = self.path_before(f, code, k, impls)
        elif name == 'Self':
            hit = enclosing(impls, k)
            found = self.tree.resolve(f, hit) if hit else []
        else:
            found = self.tree.start(f, name)
        news, known = set(), False
        for e in found:
            if e[0] == 'item':
                hit = self.assoc_new.get((e[1].file, e[1].at), {}).get(w)
                known = True
            elif e[0] == 'assoc':
                # fields of variants are in the table under the variant's name
                hit = None
                for r in self.rows:
                    if r.container == e[2] and r.old == w and r.crate == e[1].crate and r.item and r.item.file == e[1].file:
                        hit = (r.new, 'field', r.mode)
                known = True
            else:
                continue
            if hit and hit[1] == 'field' and hit[2] in self.modes and (hit[2] == 'plain' or f in self.aggressive):
                news.add(hit[0])
        if news:
            return news.pop() if len(news) == 1 else None
        if not known and self.fields.get(w) and len(self.fields[w]) == 1 and 'plain' in self.modes:
            return next(iter(self.fields[w]))
        return None

    # ----- prose -----
    def words_of_path(self, f, text):
        """A path in backticks, renamed; None if nothing in it is renamed."""
        m = re.fullmatch(r'([A-Za-z_][\w]*(?:::[A-Za-z_]\w*)*)(\(.*\)|!|)', text, re.S)
        if not m:
            return None
        words, rest = m.group(1).split('::'), m.group(2)
        out = list(words)
        for k, w in enumerate(words):
            new = None
            if k:
                for container in {words[k - 1], out[k - 1]}:
                    news = self.prose_assoc.get((container, w), set())
                    if f and len(news) > 1:
                        news = self.narrow(f, container, w)
                    if len(news) == 1:
                        new = next(iter(news))
                if words[k - 1] == 'Self' and f:
                    news = {r.new for r in self.rows if r.old == w and r.crate == R.crate_of(f) and r.container != '-'}
                    new = next(iter(news)) if len(news) == 1 else None
            if new is None and k + 1 < len(words) and w in self.prose_item and w[0].isupper():
                # of several types with this name, the one that has such a member
                member = words[k + 1]
                crates = {r.crate for r in self.rows if r.container == w and r.old == member} or {
                    it.crate for it in self.tree.by_name[member] if it.container == w and '/src/' in it.file}
                crates = crates & {R.crate_of(f)} or crates if f else crates
                news = {r.new for r in self.rows if r.container == '-' and r.old == w and r.crate in crates}
                kept = [it for it in self.tree.by_name[w] if it.crate in crates and it.kind in TYPE_KINDS and it.public == 'pub'
                        and it.container == '-' and (it.file, it.at) not in self.item_new]
                if len(news) == 1 and not kept:
                    new = next(iter(news))
            if new is None and (w[0].isupper() or (k and w in self.prose_item)):
                new = self.prose_word(f, words[:k + 1], w)
            if new is None and len(words) == 1 and w[0].islower() and rest.startswith('('):
                news = self.any_methods.get(w, set()) | self.prose_item.get(w, set())
                own = {r.new for r in self.rows if r.old == w and f and r.crate == R.crate_of(f)}
                news = own or news
                if len(news) == 1 and (own or not self.common(w)):
                    new = next(iter(news))
            if new:
                out[k] = new
        return '::'.join(out) + rest if out != words else None

    def common(self, w):
        """Whether some definition of the word in the tree stays as it is."""
        renamed = {(r.item.file, r.item.at) for r in self.rows if r.item and r.old == w}
        return any((it.file, it.at) not in renamed and not it.trait_impl and '/src/' in it.file for it in self.tree.by_name[w])

    def narrow(self, f, container, w):
        found = self.tree.start(f, container)
        news = set()
        for e in found:
            if e[0] == 'item':
                hit = self.assoc_new.get((e[1].file, e[1].at), {}).get(w)
                if hit:
                    news.add(hit[0])
        return news

    def prose_word(self, f, path, w):
        if f:
            found = [e for e in self.tree.resolve(f, path) if e[0] in ('item', 'assoc')]
            if found:
                news = set()
                for e in found:
                    if e[0] == 'item':
                        news.add(self.item_new.get((e[1].file, e[1].at)))
                    else:
                        hit = self.assoc_new.get((e[1].file, e[1].at), {}).get(e[2])
                        news.add(hit[0] if hit else None)
                return news.pop() if len(news) == 1 else None
            if len(path) == 1:  # not in scope here: an item of this crate with that name, if there is one
                own = [it for it in self.tree.by_name[w] if it.crate == R.crate_of(f) and it.kind in TYPE_KINDS and it.container == '-']
                news = {self.item_new.get((it.file, it.at)) for it in own}
                if own:
                    return news.pop() if len(news) == 1 else None
        if len(path) > 1:
            news = {r.new for r in self.rows if r.old == w and r.container == '-' and
                    r.crate.split('/')[-1].replace('-', '_') in path[:-1]}
            return news.pop() if len(news) == 1 else None
        news = self.prose_item.get(w, set())
        if len(news) == 1 and not self.stays.get(w):
            return next(iter(news))
        if news:
            self.ambiguous[(f or 'documents', '`%s`' % w)] += 1
        return None

    TICKS = re.compile(r'(?<!`)`([^`\n]+)`(?!`)')

    def prose(self, f, text):
        """Words in backticks, as paths, in one comment or one line of a document."""
        def one(m):
            new = self.words_of_path(f, m.group(1))
            return '`%s`' % new if new else m.group(0)
        def target(m):
            new = self.words_of_path(f, m.group(2))
            return m.group(1) + new + m.group(3) if new else m.group(0)
        text = self.TICKS.sub(one, text)
        text = re.sub(r'(\]\()((?:\w+::)+\w+(?:\(\))?)(\))', target, text)
        return re.sub(r'(\]: )((?:\w+::)+\w+)(\s*$)', target, text)


def impl_ranges(code):
    """(first token, last token, words of the type's path) of each impl, trait and enum."""
    out, stack, i, n = [], [], 0, len(code)
    pending = None
    while i < n:
        t = code[i]
        if t.text == 'impl' and (i == 0 or code[i - 1].text in ('}', ';', ']', '{', 'unsafe', ')') or (code[i - 1].text == '(' and code[i - 2].text == '$')):
            j, header, depth = i + 1, [], 0
            while j < n and (depth or code[j].text not in ('{', ';')):
                depth += {'[': 1, '(': 1, ']': -1, ')': -1}.get(code[j].text, 0)
                header.append(code[j])
                j += 1
            k, depth = 0, 0
            if header and header[0].text == '<':
                for k, h in enumerate(header):
                    depth += {'<': 1, '>': -1}.get(h.text, 0)
                    if depth == 0:
                        break
                header = header[k + 1:]
            depth, words = 0, []
            for h in header:
                depth += {'<': 1, '>': -1}.get(h.text, 0)
                if depth == 0 and h.kind == 'ident':
                    if h.text == 'for':
                        words = []
                    elif h.text == 'where':
                        break
                    elif h.text not in ('dyn', 'mut'):
                        words.append(h.text)
            pending = words
            i = j
            continue
        if t.text in ('trait', 'enum', 'struct') and t.kind == 'ident' and i + 1 < n and code[i + 1].kind == 'ident':
            pending = [code[i + 1].text]
        if t.text == '{':
            stack.append((i, pending))
            pending = None
        elif t.text == '}' and stack:
            start, words = stack.pop()
            if words:
                out.append((start, i, words))
        elif t.text == ';':
            pending = None
        i += 1
    return out


def enclosing(ranges, i):
    best = None
    for a, b, words in ranges:
        if a < i < b and (best is None or a > best[0]):
            best = (a, words)
    return best[1] if best else None


def brace_openers(code):
    """For each token directly in a pair of braces: the index of the opening one."""
    out, stack = {}, []
    for i, t in enumerate(code):
        if t.text in ('}', ')', ']') and stack:
            stack.pop()
        if stack and code[stack[-1]].text == '{':
            out[i] = stack[-1]
        if t.text in ('{', '(', '['):
            stack.append(i)
    return out


def apply_edits(text, edits):
    for at in sorted(edits, reverse=True):
        old, new = edits[at]
        assert text[at:at + len(old)] == old, (text[at:at + 20], old)
        text = text[:at] + new + text[at + len(old):]
    return text


FENCE = re.compile(r'^(\s*)(```+|~~~+)\s*([\w,\- ]*)')


def comment_edits(ren, f, edits):
    """Edits of comments: backticks everywhere, code in fences of doc comments."""
    tree, text = ren.tree, ren.tree.text[f]
    block, fenced = [], False
    for t in tree.toks[f]:
        if t.kind == 'doc':
            body = t.text[3:]
            m = FENCE.match(body)
            if m:
                fenced = not fenced
                lang = m.group(3)
                if fenced:
                    block, is_rust = [], lang.strip() in ('', 'rust', 'no_run', 'ignore', 'compile_fail', 'should_panic') or 'compile_fail' in lang or 'rust' in lang
                elif is_rust:
                    snippet_edits(ren, f, block, edits)
                continue
            if fenced:
                block.append((t.at + 3, body))
                continue
        elif t.kind not in ('line', 'block'):
            if t.kind not in ('doc',):
                fenced = False
            continue
        new = ren.prose(f, t.text)
        if new != t.text:
            edits[t.at] = (t.text, wrapped(text, t, new) if t.kind != 'block' else new)


COLUMNS_MAX = 100


def wrapped(text, t, new):
    """A comment line that became too long by the new name, in two lines."""
    start = t.at - (text.rfind('\n', 0, t.at) + 1)
    lead = text[t.at - start:t.at]
    if start + len(new) <= COLUMNS_MAX or start + len(t.text) > COLUMNS_MAX or lead.strip():
        return new
    mark = re.match(r'//[/!]?\s*(?:[-*] )?', new).group(0)
    cut = new.rfind(' ', len(mark), COLUMNS_MAX - start)
    while cut > 0 and new[:cut].count('`') % 2:
        cut = new.rfind(' ', len(mark), cut)
    if cut <= len(mark) or '|' in new:
        return new
    return new[:cut] + '\n' + lead + re.sub(r'[-*] $', '  ', mark) + new[cut + 1:]


def snippet_edits(ren, f, block, edits):
    """Code of a doctest: a file of its own that sees what it imports and, hidden, what the file sees."""
    lines = []
    for at, body in block:
        m = re.match(r' ?#(?= |$)', body)
        lines.append((at, (' ' * m.end() + body[m.end():]) if m else body))
    source = '\n'.join(b for _, b in lines)
    name = os.path.dirname(f) + '/__doctest__.rs'
    tree = ren.tree
    tree.add_file(name, source)
    fresh = tree.by_file[name]
    try:
        found = {}
        ren.use_edits(name, tree.code[name], found)
        keep = tree.globs[name]
        ren.body_edits(name, tree.code[name], found)
        if name not in ren.aggressive:
            ren.aggressive.add(name)
            ren.body_edits(name, tree.code[name], found)
            ren.aggressive.discard(name)
        starts, pos = [], 0
        for at, b in lines:
            starts.append((pos, at))
            pos += len(b) + 1
        for at, e in found.items():
            base = max(s for s in starts if s[0] <= at)
            edits[base[1] + at - base[0]] = e
    finally:
        for it in fresh:
            tree.items.remove(it)
            tree.by_name[it.name].remove(it)
        for d in (tree.text, tree.toks, tree.code, tree.by_file, tree.imports, tree.globs, tree.mods):
            d.pop(name, None)
        tree.cache = {k: v for k, v in tree.cache.items() if k[0] != name}


def markdown(ren, path, text):
    out, fenced, lang = [], False, ''
    is_protocol = 'PROTOCOL' in path or '/protocol/' in path
    buffer = []
    for line in text.split('\n'):
        m = FENCE.match(line)
        if m:
            if fenced and lang.startswith('rust'):
                edits = {}
                block, pos = [], 0
                for b in buffer:
                    block.append((pos, b))
                    pos += len(b) + 1
                snippet_edits(ren, path + '/x', block, edits)
                buffer = apply_edits('\n'.join(buffer), edits).split('\n') if buffer else buffer
            out += buffer
            buffer = []
            fenced, lang = not fenced, m.group(3)
            out.append(line)
            continue
        if fenced:
            buffer.append(line)
            continue
        out.append(line if is_protocol and not re.search(r'`[A-Z]', line) else ren.prose(None, line))
    return '\n'.join(out + buffer)


def rustc_pass(root, rows, messages, dry):
    """Renames at the spans of rustc's errors what the table renames."""
    news = collections.defaultdict(set)
    for r in rows:
        news[r.old].add(r.new)
    by_type = collections.defaultdict(set)
    for r in rows:
        by_type[(r.container, r.old)].add(r.new)
        for q in rows:
            if q.container == '-' and q.crate == r.crate and q.old == r.container:
                by_type[(q.new, r.old)].add(r.new)
    edits, left = collections.defaultdict(dict), []
    for line in open(messages):
        try:
            m = json.loads(line)
        except ValueError:
            continue
        m = m['message'] if isinstance(m.get('message'), dict) else m
        if m.get('level') != 'error' or not m.get('spans'):
            continue
        for span in m['spans']:
            if not span['is_primary'] or span.get('expansion'):
                continue
            path = os.path.relpath(os.path.join(root, span['file_name']), root)
            full = os.path.join(root, path)
            if not os.path.exists(full):
                continue
            raw = open(full, 'rb').read()
            word = raw[span['byte_start']:span['byte_end']].decode('utf8', 'replace')
            name = re.split(r'\W', word.split('::')[-1])[0] if not re.fullmatch(r'\w+', word) else word
            choice = news.get(name, set())
            types = re.findall(r'`[^`]*?(\w+)(?:<[^`]*>)?`', m['message'])
            typed = set().union(*[by_type.get((t, name), set()) for t in types]) if types else set()
            choice = typed or choice
            if len(choice) == 1:
                new = next(iter(choice))
                off = word.rfind(name)
                start = span['byte_start'] + len(word[:off].encode())
                rest = raw[start + len(name):start + len(name) + 1]
                if m.get('code') and m['code'].get('code') in ('E0560', 'E0026', 'E0559') and rest not in (b':',) and raw[start + len(name):start + len(name) + 2].strip()[:1] in (b',', b'}'):
                    edits[full][start] = (b'', (new + ': ').encode())
                else:
                    edits[full][start] = (name.encode(), new.encode())
            elif choice:
                left.append('%s:%d %s: one of %s: %s' % (path, span['line_start'], name, sorted(choice), m['message'][:100]))
            else:
                left.append('%s:%d %s' % (path, span['line_start'], m['message'][:140]))
    total = 0
    for full, es in edits.items():
        raw = open(full, 'rb').read()
        for at in sorted(es, reverse=True):
            old, new = es[at]
            raw = raw[:at] + new + raw[at + len(old):]
            total += 1
        if not dry:
            open(full, 'wb').write(raw)
    print('%d words in %d files' % (total, len(edits)))
    for l in dict.fromkeys(left):
        print('LEFT', l)


def definitions(root, tree, rows, dry):
    """Renames what `ra` rows define, in types, traits and implementations of these traits."""
    ren = Renamer(tree, rows, {'ra'})
    edits = collections.defaultdict(dict)
    for r in rows:
        if r.mode != 'ra':
            continue
        if not r.item:
            print('MISSING %r' % r)
            continue
        edits[r.item.file][r.item.at] = (r.old, r.new)
        if any(it.kind == 'trait' and it.crate == r.crate for it in tree.by_name[r.item.container]):
            for it in tree.by_name[r.old]:
                if it.trait_impl == r.item.container and it.kind == r.item.kind:
                    edits[it.file][it.at] = (r.old, r.new)
    for f, es in sorted(edits.items()):
        print('%4d %s' % (len(es), f))
        if not dry:
            open(os.path.join(root, f), 'w', encoding='utf8').write(apply_edits(tree.text[f], es))


def move_files(root, table, dry):
    """`git mv` of files, and the declarations and paths of the modules they are."""
    tree, moves, pairs = Tree(root), {}, []
    name_of = lambda x: os.path.basename(os.path.dirname(x)) if x.endswith('/mod.rs') else os.path.basename(x)[:-3]
    for line in open(table):
        if not line.strip() or line[0] == '#':
            continue
        crate, old, new = line.rstrip('\n').split('\t')[:3]
        src, dst = crate + '/' + old, crate + '/' + new
        if src not in tree.text:
            print('MISSING', src)
            continue
        moves[src] = name_of(dst)
        if src.endswith('/mod.rs'):
            pairs.append((os.path.dirname(src), os.path.dirname(dst)))
        else:
            pairs.append((src, dst))
            if os.path.isdir(os.path.join(root, src[:-3])):
                pairs.append((src[:-3], dst[:-3]))
        taken = [f for f in tree.text if f == dst or f == dst[:-3] + '/mod.rs']
        if taken:
            print('EXISTS', dst)
    for f, code in tree.code.items():
        edits, in_use = {}, set()

        def see(words, t):
            for e in tree.resolve(f, words):
                if e[0] == 'file' and e[1] in moves and t.text == name_of(e[1]):
                    edits[t.at] = (t.text, moves[e[1]])
        for path, alias, glob, _ in use_leaves(code):
            words = [t.text for t in path]
            for k, t in enumerate(path):
                in_use.add(t.at)
                if t.text not in KEYWORDS:
                    if k == len(path) - 1 and not glob and any(e[0] == 'item' for e in tree.resolve(f, words)):
                        continue  # an item of the same name
                    see(words[:k + 1], t)
        for it in tree.by_file[f]:
            if it.kind == 'mod' and tree.child(f, it.name) in moves and tree.child(f, it.name) != f:
                if (f, it.name) not in tree.elsewhere or os.path.dirname(tree.elsewhere[(f, it.name)]).endswith(it.name):
                    edits[it.at] = (it.name, moves[tree.child(f, it.name)])
        for i, t in enumerate(code[:-1]):
            if t.kind == 'ident' and code[i + 1].text == '::' and t.at not in in_use and t.text[0].islower() and t.text not in KEYWORDS:
                words, k = [t.text], i
                while k >= 2 and code[k - 1].text == '::' and code[k - 2].kind == 'ident':
                    words.insert(0, code[k - 2].text)
                    k -= 2
                if k >= 1 and code[k - 1].text == '::':
                    continue
                see(words, t)
        for t in code:
            if t.kind == 'str' and t.text.endswith('.rs"') and any('/' + name_of(m) in t.text for m in moves) and '#' not in t.text:
                print('PATH in a string', f, t.text)
        if edits:
            print('%4d %s' % (len(edits), f))
            if not dry:
                open(os.path.join(root, f), 'w', encoding='utf8').write(apply_edits(tree.text[f], edits))
    for f in R.tree_files(root, ('.md', '.toml')):
        if os.path.basename(f) in SKIP_MD or f.startswith('tools/rename/'):
            continue
        text = new = open(os.path.join(root, f), encoding='utf8').read()
        for x, y in pairs:
            new = re.sub(r'(?<![\w/])%s(?=[/`)\s"]|$)' % re.escape(x), y, new, flags=re.M)
        if new != text:
            print('paths in', f)
            if not dry:
                open(os.path.join(root, f), 'w', encoding='utf8').write(new)
    for x, y in pairs:
        print('%s -> %s' % (x, y))
        if not dry:
            subprocess.run(['git', '-C', root, 'mv', x, y], check=True)


def main():
    args = sys.argv[1:]
    def values(flag):
        return [args[i + 1] for i, a in enumerate(args) if a == flag]
    root, table = os.path.abspath(args[0]), args[1]
    dry = '--dry-run' in args
    rows = [Row(l) for l in open(table, encoding='utf8') if l.strip() and l[0] != '#']
    if values('--rustc'):
        return rustc_pass(root, rows, values('--rustc')[0], dry)
    if values('--move'):
        return move_files(root, values('--move')[0], dry)
    modes = set((values('--rows') or ['path,plain'])[0].split(','))
    only, globs = (values('--only') or [''])[0], values('--files')
    tree = Tree(root)
    chosen = [f for f in tree.text if not globs or any(fnmatch.fnmatch(f, g) for g in globs)]
    ren = Renamer(tree, rows, modes | ({'ra'} if globs else set()), chosen if globs else ())
    if '--definitions' in args:
        return definitions(root, tree, rows, dry)
    changed, total = {}, 0
    for f in chosen:
        edits = {}
        if only != 'prose':
            edits.update(ren.file_edits(f))
        if only != 'code' and not f.startswith('tools/rename/'):
            comment_edits(ren, f, edits)
        if edits:
            changed[f] = apply_edits(tree.text[f], edits)
            total += len(edits)
            print('%5d %s' % (len(edits), f))
    if only != 'code':
        for f in R.tree_files(root, ('.md',)):
            if os.path.basename(f) in SKIP_MD or f.startswith('tools/rename/') or (globs and not any(fnmatch.fnmatch(f, g) for g in globs)):
                continue
            text = open(os.path.join(root, f), encoding='utf8').read()
            new = markdown(ren, f, text)
            if new != text:
                count = sum(1 for a, b in zip(text.split('\n'), new.split('\n')) if a != b)
                print('%5d lines %s' % (count, f))
                changed[f] = new
    for note in ren.notes:
        print(note)
    report = [('%s: %s (%d)' % (f, w, c)) for (f, w), c in sorted(ren.ambiguous.items())]
    if values('--report'):
        open(values('--report')[0], 'w').write('\n'.join(report) + '\n')
    print('%d words in %d files; %d words of unclear meaning left%s' % (total, len(changed), sum(ren.ambiguous.values()),
          '' if values('--report') else ' (--report FILE lists them)'))
    if not dry:
        for f, text in changed.items():
            open(os.path.join(root, f), 'w', encoding='utf8').write(text)


if __name__ == '__main__':
    main()
