"""Reads Rust without a compiler: tokens of a file, and the items that a tree of files defines.

Used by second_pass.py and check_table.py. It knows no types: it says where a word stands (code,
comment, string) and which items carry it, and leaves the meaning to the table."""
import os, re, subprocess
from collections import namedtuple

TOKEN = re.compile(r'''
  (?P<doc>//[/!][^\n]*)
 |(?P<line>//[^\n]*)
 |(?P<block>/\*)
 |(?P<rawstr>\b(?:br|cr|r)(?P<hashes>\#*)")
 |(?P<str>\b[bc]?"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*")
 |(?P<char>\bb?'(?:\\(?:u\{[^}]*\}|x[0-9a-fA-F]{2}|.)|[^\\'\n])'|'(?:\\(?:u\{[^}]*\}|x[0-9a-fA-F]{2}|.)|[^\\'\n])')
 |(?P<life>'[A-Za-z_][A-Za-z_0-9]*)
 |(?P<num>\b[0-9][A-Za-z_0-9]*(?:\.[0-9][A-Za-z_0-9]*)?)
 |(?P<ident>(?:r\#)?[A-Za-z_][A-Za-z_0-9]*)
 |(?P<punct>::|->|=>|\.\.=|\.\.\.|\.\.|[^\sA-Za-z_0-9])
''', re.X | re.S)

Token = namedtuple('Token', 'kind text at')
Item = namedtuple('Item', 'crate container name kind file line at trait_impl public data has_self')


def tokens(text):
    """Tokens of a Rust file; kinds: doc, line, block, str, char, life, num, ident, punct."""
    out, i, n = [], 0, len(text)
    while i < n:
        m = TOKEN.search(text, i)
        if not m:
            break
        kind, at = m.lastgroup, m.start()
        if kind == 'hashes':
            kind = 'rawstr'
        if kind == 'block':
            depth, j = 1, m.end()
            while depth and j < n:
                a, b = text.find('/*', j), text.find('*/', j)
                if b < 0:
                    j = n
                    break
                if 0 <= a < b:
                    depth, j = depth + 1, a + 2
                else:
                    depth, j = depth - 1, b + 2
            out.append(Token('block', text[at:j], at))
            i = j
            continue
        if kind == 'rawstr':
            end = text.find('"' + m.group('hashes'), m.end())
            j = n if end < 0 else end + 1 + len(m.group('hashes'))
            out.append(Token('str', text[at:j], at))
            i = j
            continue
        out.append(Token(kind, m.group(0), at))
        i = m.end()
    return out


def tree_files(root, endings=('.rs',)):
    names = subprocess.run(['git', '-C', root, 'ls-files', '-z'], stdout=subprocess.PIPE, check=True).stdout
    return [f for f in names.decode().split('\0') if f.endswith(endings) and os.path.exists(os.path.join(root, f))]


def crate_of(path):
    parts = path.split('/')
    if parts[0] == 'fuzz':
        return 'fuzz'
    return '/'.join(parts[:2])


def last_type_name(header):
    """Name of the type in `impl<..> Trait for a::Type<..> where ..`, and the trait's name if there is one."""
    depth, names, trait_impl = 0, [], ''
    for t in header:
        if t.text == '<':
            depth += 1
        elif t.text == '>':
            depth -= 1
        elif depth == 0 and t.kind == 'ident':
            if t.text == 'for':
                names, trait_impl = [], (names[-1] if names else '?')
            elif t.text == 'where':
                break
            elif t.text not in ('dyn', 'mut', 'impl', 'unsafe', 'const'):
                names.append(t.text)
    return (names[-1] if names else '?'), trait_impl


def items(path, text, toks=None):
    """Items of one file: types, variants, fields, functions, constants, modules, macros."""
    code = [t for t in (toks or tokens(text)) if t.kind not in ('doc', 'line', 'block')]
    starts = [0]
    for m in re.finditer('\n', text):
        starts.append(m.end())
    import bisect
    crate, found = crate_of(path), []
    # context: (kind, name, trait, data); kinds: file, mod, impl, trait, struct, enum, variant, fn, record, other
    stack = [('file', '-', '', False)]
    pending = None  # context for the next '{' or '('
    i, n = 0, len(code)
    derives = False  # the item that comes next derives State, Input, Kind or Field

    def container():
        for kind, name, _, _ in reversed(stack):
            if kind in ('impl', 'trait', 'struct', 'enum', 'variant'):
                return name
        return '-'

    def add(kind, t, cont=None, public=False, has_self=False):
        line = bisect.bisect_right(starts, t.at)
        trait_impl = next((c[2] for c in reversed(stack) if c[0] == 'impl'), '')
        data = stack[-1][3] and kind in ('field', 'variant')
        found.append(Item(crate, container() if cont is None else cont, t.text, kind, path, line, t.at, trait_impl, public, data, has_self))

    def is_pub(k):
        j = k - 1
        while j >= 0 and code[j].text in ('async', 'const', 'unsafe', 'extern', 'default') or (j >= 0 and code[j].kind == 'str'):
            j -= 1
        if j >= 0 and code[j].text == ')':
            return 'pub(..)' if any(code[q].text == 'pub' for q in range(max(0, j - 6), j)) else ''
        return 'pub' if j >= 0 and code[j].text == 'pub' else ''

    while i < n:
        t = code[i]
        nxt = code[i + 1] if i + 1 < n else None
        top = stack[-1]
        if t.kind == 'ident' and nxt is not None:
            word = t.text
            if word in ('struct', 'enum', 'union', 'trait') and nxt.kind == 'ident' and (word != 'union' or code[i - 1].text in ('pub', ')', '}', ';')):
                add(word, nxt, '-' if not any(c[0] == 'fn' for c in stack) else '(fn)', is_pub(i))
                record = next((c[0] for c in reversed(stack) if c[0] in ('record', 'fn', 'mod', 'impl')), '') == 'record'
                pending = (word, nxt.text, '', derives or (record and word == 'struct'))
                derives = False
                i += 2
                continue
            if word == 'fn' and nxt.kind == 'ident':
                add('fn', nxt, public=is_pub(i), has_self=takes_self(code, i + 2))
                pending, derives = ('fn', nxt.text, '', False), False
                i += 2
                continue
            if word == 'derive' and code[i - 1].text == '[':
                j = i + 2
                while j < n and code[j].text != ')':
                    derives = derives or code[j].text in ('State', 'Input', 'Kind', 'Field')
                    j += 1
            if word in ('record', 'tagged', 'words') and nxt.text == '!' and i + 2 < n and code[i + 2].text == '{':
                pending = ('record' if word == 'record' else 'other', '', '', False)
                i += 2
                continue
            if word == 'macro_rules':
                add('macro', code[i + 2], '-')
                pending = ('other', '', '', False)
                i += 3
                continue
            if word in ('const', 'static') and nxt.kind == 'ident' and i + 2 < n and (code[i + 2].text == ':' or nxt.text == 'mut'):
                name = code[i + 2] if nxt.text == 'mut' else nxt
                add('const', name, public=is_pub(i))
                i += 2
                continue
            if word == 'type' and nxt.kind == 'ident':
                add('type', nxt, public=is_pub(i))
                i += 2
                continue
            if word == 'mod' and nxt.kind == 'ident':
                add('mod', nxt, '-', is_pub(i))
                pending = ('mod', nxt.text, '', False)
                i += 2
                continue
            if word == 'impl' and top[0] in ('file', 'mod', 'other', 'fn', 'paren') and (i == 0 or code[i - 1].text in ('}', ';', ']', '{', 'unsafe', ')') or (code[i - 1].text == '(' and code[i - 2].text == '$')):
                j, header, depth = i + 1, [], 0
                while j < n and (depth or code[j].text not in ('{', ';')):
                    depth += {'[': 1, '(': 1, ']': -1, ')': -1}.get(code[j].text, 0)
                    header.append(code[j])
                    j += 1
                # the generics right after impl
                k = 0
                if header and header[0].text == '<':
                    depth = 0
                    for k, h in enumerate(header):
                        depth += {'<': 1, '>': -1}.get(h.text, 0)
                        if depth == 0:
                            break
                    header = header[k + 1:]
                name, trait_impl = last_type_name(header)
                pending = ('impl', name, trait_impl, False)
                i = j
                continue
            if top[0] in ('struct', 'variant') and nxt.text == ':' and not paren_depth(stack):
                prev = code[i - 1].text
                if prev in ('{', ',', 'pub', ')', ']'):
                    add('field', t, top[1], is_pub(i))
            if top[0] == 'enum' and code[i - 1].text in ('{', ',', ']', '=>', '}', ')') and word[0].isupper():
                add('variant', t, top[1])
                pending = ('variant', word, '', top[3])
                i += 1
                continue
        if t.text == '{':
            stack.append(pending or ('other', '', '', False))
            pending = None
        elif t.text in ('(', '['):
            stack.append(('paren', '', '', False))
        elif t.text in ('}', ')', ']'):
            if len(stack) > 1:
                stack.pop()
        elif t.text == ';':
            pending = None
        elif t.text == ',' and top[0] == 'enum':
            pending = None
        i += 1
    return found


def paren_depth(stack):
    return stack[-1][0] == 'paren'


def takes_self(code, i):
    """Whether the parameters of the function whose generics or parameters begin at `i` begin with self."""
    depth = 0
    while i < len(code) and (depth or code[i].text != '('):
        depth += {'<': 1, '>': -1}.get(code[i].text, 0)
        i += 1
    return any(t.text == 'self' for t in code[i + 1:i + 5])
