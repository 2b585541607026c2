/**
 * Files of settings (contract 90, setup.json): what is written is read by foreign readers, and
 * every other byte stays.
 */
import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { parse as parseJsonc } from 'jsonc-parser';
import { FormatError, type SettingValue } from '../../../../../clients/agent/settings/formats/format.js';
import { SETTINGS_FORMATS, type FormatName } from '../../../../../clients/agent/settings/formats/index.js';

const hasPython = spawnSync('python3', ['--version']).status === 0;

/** All texts of a run in one call: a start of Python for each would take minutes. */
function python<T>(program: string, texts: readonly string[]): T[] {
  const answer = execFileSync('python3', ['-c', program], {
    input: JSON.stringify(texts),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return JSON.parse(answer) as T[];
}
const PYTHON_INI = `
import configparser, json, sys
def read(text):
    c = configparser.RawConfigParser(strict=True); c.optionxform = str
    c.read_string(text.replace('\\r\\n', '\\n'))
    return {s: dict(c.items(s)) for s in c.sections()}
print(json.dumps([read(t) for t in json.load(sys.stdin)]))`;
const PYTHON_XML = `
import json, sys, xml.etree.ElementTree as e
def walk(n): return {'name': n.tag, 'attributes': n.attrib, 'text': n.text or '', 'children': [walk(c) for c in n]}
print(json.dumps([walk(e.fromstring(t.encode())) for t in json.load(sys.stdin)]))`;

/** The value of a variable after each file was read by a shell. */
function shell(files: readonly { text: string; key: string }[]): string[] {
  const dir = mkdtempSync(join(tmpdir(), 'aos-formats-'));
  try {
    const reads = files.map(({ text, key }, n) => {
      writeFileSync(join(dir, String(n)), text);
      return `( . ./${n}; printf '%s\\0' "$${key}" )`;
    });
    writeFileSync(join(dir, 'all.sh'), reads.join('\n'));
    return execFileSync('sh', ['all.sh'], { cwd: dir, encoding: 'utf8' }).split('\0').slice(0, -1);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Case {
  name: string;
  text: string;
  key: string;
  value: SettingValue;
  becomes: string;
}

const CASES: Record<FormatName, Case[]> = {
  json: [
    {
      name: 'replaces a value',
      text: '{"a": "changeme", "b": 1}',
      key: 'a',
      value: 'x"y',
      becomes: '{"a": "x\\"y", "b": 1}',
    },
    {
      name: 'writes integers and booleans as such',
      text: '{ "a":"1","b" : "x" }',
      key: 'b',
      value: true,
      becomes: '{ "a":"1","b" : true }',
    },
    { name: 'writes an integer', text: '{"p":null}', key: 'p', value: 8080, becomes: '{"p":8080}' },
    {
      name: 'adds below the last member, after its comment',
      text: '{\r\n\t// head\r\n\t"a": 1 // one\r\n}\r\n',
      key: 'b',
      value: 'x',
      becomes: '{\r\n\t// head\r\n\t"a": 1, // one\r\n\t"b": "x"\r\n}\r\n',
    },
    {
      name: 'keeps a trailing comma',
      text: '{\n  "a": 1, /* one */\n}\n',
      key: 'b',
      value: 2,
      becomes: '{\n  "a": 1, /* one */\n  "b": 2,\n}\n',
    },
    {
      name: 'finds a comma that comes lines later',
      text: '{\n  "a": 1 // one\n  // and\n  ,\n}\n',
      key: 'b',
      value: 2,
      becomes: '{\n  "a": 1, // one\n  "b": 2\n  // and\n  ,\n}\n',
    },
    { name: 'adds to one line', text: '{ "a": 1 }', key: 'b', value: 2, becomes: '{ "a": 1, "b": 2 }' },
    {
      name: 'stays in an object that ends between comments',
      text: '{\n  "o": {\n    "a": 1 /* one */ } /* two */\n}',
      key: 'o:b',
      value: 2,
      becomes: '{\n  "o": {\n    "a": 1,\n    "b": 2 /* one */ } /* two */\n}',
    },
    {
      name: 'leaves the layout of the member above',
      text: '{\n  "a":  [1, 2]\n}',
      key: 'b:c',
      value: 2,
      becomes: '{\n  "a":  [1, 2],\n  "b": {\n    "c": 2\n  }\n}',
    },
    {
      name: 'replaces null by an object',
      text: '{\n  "a": null, // none\n  "b": 1\n}',
      key: 'a:c:d',
      value: 1,
      becomes: '{\n  "a": {\n    "c": {\n      "d": 1\n    }\n  }, // none\n  "b": 1\n}',
    },
    {
      name: 'adds to an object of a list',
      text: '{\n  "a": [\n    {\n      "b": 1\n    }\n  ]\n}',
      key: 'a:0:c',
      value: 2,
      becomes: '{\n  "a": [\n    {\n      "b": 1,\n      "c": 2\n    }\n  ]\n}',
    },
    {
      name: 'fills an empty object',
      text: '{\n  "a": {}\n}',
      key: 'a:b',
      value: 1,
      becomes: '{\n  "a": {\n    "b": 1\n  }\n}',
    },
    {
      name: 'fills an empty value with a comment',
      text: '{\n  // none\n}\n',
      key: 'a',
      value: 1,
      becomes: '{\n  "a": 1\n  // none\n}\n',
    },
    { name: 'fills an empty object on one line', text: '{ }', key: 'a', value: 1, becomes: '{\n  "a": 1\n}' },
    {
      name: 'creates missing parents, with the file’s indentation',
      text: '{\n    "a": 1\n}\n',
      key: 'b:c:d',
      value: 'x',
      becomes: '{\n    "a": 1,\n    "b": {\n        "c": {\n            "d": "x"\n        }\n    }\n}\n',
    },
    {
      name: 'replaces an entry of a list',
      text: '{"a":[{"b":"todo"}]}',
      key: 'a:0:b',
      value: 'x',
      becomes: '{"a":[{"b":"x"}]}',
    },
    { name: 'creates a file', text: '', key: 'a:b', value: 'x', becomes: '{\n  "a": {\n    "b": "x"\n  }\n}\n' },
    {
      name: 'is not fooled by __proto__',
      text: '{}',
      key: '__proto__:x',
      value: 1,
      becomes: '{\n  "__proto__": {\n    "x": 1\n  }\n}',
    },
  ],
  env: [
    {
      name: 'replaces a value',
      text: '# head\nA=changeme # say it\nB=2',
      key: 'A',
      value: 'x',
      becomes: '# head\nA=x # say it\nB=2',
    },
    { name: 'keeps quotes', text: 'A="changeme"\n', key: 'A', value: 'two words', becomes: 'A="two words"\n' },
    {
      name: 'adds quotes where readers need them',
      text: 'A=changeme\r\n',
      key: 'A',
      value: 'a b#c',
      becomes: "A='a b#c'\r\n",
    },
    { name: 'keeps export', text: 'export A=\n', key: 'A', value: 1, becomes: 'export A=1\n' },
    {
      name: 'fills an empty value with a comment',
      text: 'A= # fill\n',
      key: 'A',
      value: true,
      becomes: 'A=true # fill\n',
    },
    { name: 'adds a line', text: 'B=1\n', key: 'A', value: 'x', becomes: 'B=1\nA=x\n' },
    { name: 'adds a line after one without an end', text: 'B=1', key: 'A', value: 'x', becomes: 'B=1\nA=x' },
    { name: 'replaces the last line of a key', text: 'A=1\nA=todo\n', key: 'A', value: 'x', becomes: 'A=1\nA=x\n' },
    {
      name: 'does not look into a value of several lines',
      text: 'B="1\nA=2\n"\n',
      key: 'A',
      value: 'x',
      becomes: 'B="1\nA=2\n"\nA=x\n',
    },
    { name: 'creates a file', text: '', key: 'A', value: 'x', becomes: 'A=x\n' },
  ],
  ini: [
    {
      name: 'replaces a value',
      text: '[a]\nb = changeme ; say it\nc=1\n',
      key: 'a:b',
      value: 'x y',
      becomes: '[a]\nb = x y ; say it\nc=1\n',
    },
    {
      name: 'keeps quotes and the sign',
      text: '[a]\r\nb: "todo"\r\n',
      key: 'a:b',
      value: 'x',
      becomes: '[a]\r\nb: "x"\r\n',
    },
    { name: 'fills an empty value', text: '[a]\nb =\nc = 1\n', key: 'a:b', value: 2, becomes: '[a]\nb = 2\nc = 1\n' },
    {
      name: 'fills an empty value with a comment',
      text: '[a]\nb = ; fill\n',
      key: 'a:b',
      value: 2,
      becomes: '[a]\nb = 2 ; fill\n',
    },
    {
      name: 'adds below the section’s last key',
      text: '[a]\n  b = 1\n\n; next\n[z]\nc=1\n',
      key: 'a:d',
      value: 'x',
      becomes: '[a]\n  b = 1\n  d = x\n\n; next\n[z]\nc=1\n',
    },
    { name: 'adds a section', text: '[a]\nb = 1\n', key: 'c:d', value: 'x', becomes: '[a]\nb = 1\n\n[c]\nd = x\n' },
    {
      name: 'replaces a key before the first section',
      text: '; head\nk=1\n[a]\nb=1\n',
      key: 'k',
      value: 2,
      becomes: '; head\nk=2\n[a]\nb=1\n',
    },
    { name: 'adds a key before the first section', text: '[a]\nb=1\n', key: 'k', value: 2, becomes: 'k=2\n[a]\nb=1\n' },
    { name: 'finds other spellings', text: '[A]\nKey=todo\n', key: 'a:key', value: 2, becomes: '[A]\nKey=2\n' },
    { name: 'creates a file', text: '', key: 'a:b', value: 'x', becomes: '[a]\nb=x\n' },
  ],
  xml: [
    {
      name: 'replaces a text',
      text: '<?xml version="1.0"?>\r\n<!-- head -->\r\n<a>\r\n  <b>changeme</b>\r\n</a>\r\n',
      key: 'a/b',
      value: 'x<y&z',
      becomes: '<?xml version="1.0"?>\r\n<!-- head -->\r\n<a>\r\n  <b>x&lt;y&amp;z</b>\r\n</a>\r\n',
    },
    {
      name: 'replaces an attribute',
      text: '<a><b c = \'todo\' d="1"/></a>',
      key: 'a/b/@c',
      value: `it's "x"`,
      becomes: '<a><b c = \'it&apos;s &quot;x&quot;\' d="1"/></a>',
    },
    {
      name: 'adds an attribute',
      text: '<a><b d="1" /></a>',
      key: 'a/b/@c',
      value: 1,
      becomes: '<a><b d="1" c="1" /></a>',
    },
    {
      name: 'adds an element as its siblings are',
      text: '<a>\n\t<b>1</b>\n\t<!-- end -->\n</a>\n',
      key: 'a/c',
      value: true,
      becomes: '<a>\n\t<b>1</b>\n\t<!-- end -->\n\t<c>true</c>\n</a>\n',
    },
    {
      name: 'opens an empty element',
      text: '<a>\n  <b/>\n</a>',
      key: 'a/b/c',
      value: 'x',
      becomes: '<a>\n  <b>\n    <c>x</c>\n  </b>\n</a>',
    },
    {
      name: 'fills an empty element',
      text: '<a><b x="1" /></a>',
      key: 'a/b',
      value: 'x',
      becomes: '<a><b x="1">x</b></a>',
    },
    {
      name: 'keeps comments in a text',
      text: '<a><b><!-- say it -->todo<![CDATA[!]]></b></a>',
      key: 'a/b',
      value: 'x',
      becomes: '<a><b><!-- say it -->x</b></a>',
    },
    { name: 'adds to one line', text: '<a><b>1</b></a>', key: 'a/c', value: 2, becomes: '<a><b>1</b><c>2</c></a>' },
    {
      name: 'creates missing parents',
      text: '<a>\n</a>',
      key: 'a/b/c/@d',
      value: 2,
      becomes: '<a>\n  <b>\n    <c d="2"/>\n  </b>\n</a>',
    },
    {
      name: 'accepts : between elements',
      text: '<a><b>todo</b></a>',
      key: 'a:b',
      value: 2,
      becomes: '<a><b>2</b></a>',
    },
    {
      name: 'creates a file',
      text: '',
      key: 'a/b',
      value: 'x',
      becomes: '<?xml version="1.0" encoding="utf-8"?>\n<a>\n  <b>x</b>\n</a>\n',
    },
  ],
};

const BROKEN: Record<FormatName, { text: string; key: string; says: RegExp }[]> = {
  json: [
    { text: '{"a": 1,, }', key: 'a', says: /not valid JSON: .* line 1, column 9/ },
    { text: '[1]', key: 'a', says: /not a JSON object/ },
    { text: '{"a":{"b":1}}', key: 'a', says: /contains an object at a/ },
    { text: '{"a":1}', key: 'a:b', says: /has no object at a/ },
    { text: '{"a":1,"a":2}', key: 'a', says: /a twice/ },
    { text: '{"a":'.repeat(100_000), key: 'a', says: /no JSON|too deep/ },
  ],
  env: [],
  ini: [{ text: '[a]\nb = 1\n   2\n', key: 'a:b', says: /multiple lines/ }],
  xml: [
    { text: '<a><b></a>', key: 'a/b', says: /not valid XML: .* line 1/ },
    { text: '<!DOCTYPE a><a/>', key: 'a', says: /DOCTYPE/ },
    { text: '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', key: 'a', says: /DOCTYPE/ },
    { text: '<a>&x;</a>', key: 'a', says: /not valid XML/ },
    { text: '<?xml version="1.0" encoding="iso-8859-1"?><a/>', key: 'a', says: /iso-8859-1/ },
    { text: '<b/>', key: 'a/b', says: /root element b/ },
    { text: '<a><b/><b/></a>', key: 'a/b', says: /b twice/ },
    { text: '<a><b><c/></b></a>', key: 'a/b', says: /contains elements/ },
    { text: 'no xml', key: 'a', says: /not valid XML/ },
  ],
};

describe('update-agent: settings files', () => {
  for (const format of Object.keys(CASES) as FormatName[])
    describe(format, () => {
      const editor = SETTINGS_FORMATS[format];
      for (const { name, text, key, value, becomes } of CASES[format])
        it(name, () => {
          const written = editor.write(text, key, value);
          expect(written).to.equal(becomes);
          expect(editor.write(written, key, value), 'again').to.equal(becomes);
          expect(String(editor.read(written, key))).to.equal(String(value));
        });
      for (const { text, key, says } of BROKEN[format])
        it(`leaves unchanged: ${text.slice(0, 40).replaceAll('\n', '⏎')}`, () => {
          expect(() => editor.write(text, key, 'x')).to.throw(FormatError, says);
        });
    });

  describe('properties of the written files', function () {
    const eol = fc.constantFrom('\n', '\r\n');
    const word = fc.stringMatching(/^[a-z]{1,6}$/);
    const anyValue = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
      fc.stringMatching(/^[ -~]{1,20}$/),
      fc.integer(),
      fc.boolean(),
    );

    it('json: writes a file that any JSON parser reads without the comments, byte-identical elsewhere', () => {
      const scalar = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string({ maxLength: 8 }));
      const document = fc.dictionary(
        word,
        fc.oneof(scalar, fc.dictionary(word, scalar, { maxKeys: 3 }), fc.array(scalar, { maxLength: 2 })),
        { maxKeys: 5 },
      );
      fc.assert(
        fc.property(
          document,
          fc.array(word, { minLength: 1, maxLength: 3 }),
          anyValue,
          eol,
          fc.constantFrom(0, 2, '\t'),
          fc.boolean(),
          (object, path, value, end, indent, commented) => {
            let text = JSON.stringify(object, null, indent).replaceAll('\n', end);
            if (commented) text = text.replace(/,(\r?\n)/g, ' , // note, "x": {$1').replace(/^\{/, '{ /* head } */');
            const key = path.join(':');
            const before = parseJsonc(text) as Record<string, unknown>;
            let written: string;
            try {
              written = SETTINGS_FORMATS.json.write(text, key, value);
            } catch (error) {
              expect(error).to.be.instanceOf(FormatError);
              return;
            }
            expect(SETTINGS_FORMATS.json.write(written, key, value)).to.equal(written);
            const after = parseJsonc(written, [], { allowTrailingComma: false }) as Record<string, unknown>;
            const strict = JSON.parse(withoutComments(written)) as Record<string, unknown>;
            expect(strict).to.deep.equal(after);
            let at: unknown = after;
            for (const name of path) at = (at as Record<string, unknown>)[name];
            expect(at).to.equal(value);
            // Nothing else has changed: not a value, not a comment.
            expect(removed(after, path)).to.deep.equal(removed(before, path));
            expect(isSubsequence(commentsOf(text), written)).to.equal(true);
          },
        ),
        { numRuns: 400 },
      );
    });

    it('env: writes a file that a shell and Node can read', () => {
      const line = fc.tuple(fc.constantFrom('A', 'B', 'C_D'), fc.constantFrom('', '1', "'a b'", '"x"', 'plain # note'));
      const lines = fc.array(
        fc.oneof(
          fc.stringMatching(/^# [ -~]{0,12}$/),
          fc.constant(''),
          line.map(([key, value]) => `${key}=${value}`),
        ),
        { maxLength: 6 },
      );
      const values = fc.oneof(
        fc.stringMatching(/^[ -~]{1,16}$/),
        fc.stringMatching(/^[a-z'"$\\` #é]{1,12}$/),
        fc.integer(),
        fc.boolean(),
      );
      const seen: { text: string; key: string; given: string }[] = [];
      const check = (source: string[], key: string, value: SettingValue): void => {
        const given = String(value);
        const before = source.join('\n');
        const text = SETTINGS_FORMATS.env.write(before, key, value);
        expect(SETTINGS_FORMATS.env.write(text, key, value)).to.equal(text);
        expect(SETTINGS_FORMATS.env.read(text, key)).to.equal(given);
        seen.push({ text, key, given });
        // Node reads no escapes between quotes.
        if (!/'.*["\\$`!]|["\\$`!].*'/.test(given)) expect(parseEnv(text)[key]).to.equal(given);
        const others = (all: string): string[] =>
          all.split('\n').filter((one) => one !== '' && !one.startsWith(`${key}=`));
        expect(others(text)).to.deep.equal(others(before));
      };
      fc.assert(fc.property(lines, fc.constantFrom('A', 'B', 'NEW'), values, check), { numRuns: 300 });
      expect(shell(seen)).to.deep.equal(seen.map(({ given }) => given));
    });

    it('ini: writes a file that Python’s configparser can read', function () {
      if (!hasPython) this.skip();
      const section = fc.tuple(
        fc.uniqueArray(fc.constantFrom('one', 'two', 'three'), { maxLength: 3 }),
        fc.constantFrom('=', ' = ', ': '),
        fc.boolean(),
      );
      const values = fc.oneof(fc.stringMatching(/^[ -~é]{1,16}$/), fc.integer(), fc.boolean());
      const keys = fc.tuple(fc.constantFrom('s0', 's1', 'other'), fc.constantFrom('one', 'two', 'new'));
      const seen: { text: string; written: string; name: string; key: string; value: SettingValue }[] = [];
      fc.assert(
        fc.property(
          fc.array(section, { minLength: 1, maxLength: 3 }),
          keys,
          values,
          eol,
          (sections, [name, key], value, end) => {
            fc.pre(SETTINGS_FORMATS.ini.refusedValue(value) === null);
            const lines = sections.flatMap(([names, sign, commented], n) => [
              `[s${n}]`,
              ...(commented ? ['; a note = x', '# [no]'] : []),
              ...names.map((one) => `${one}${sign}${n}`),
              '',
            ]);
            const text = lines.join(end);
            const written = SETTINGS_FORMATS.ini.write(text, `${name}:${key}`, value);
            expect(SETTINGS_FORMATS.ini.write(written, `${name}:${key}`, value)).to.equal(written);
            expect(
              isSubsequence(
                lines.filter((one) => /^[;#[]/.test(one)),
                written,
              ),
            ).to.equal(true);
            seen.push({ text, written, name, key, value });
          },
        ),
        { numRuns: 300 },
      );
      type Sections = Record<string, Record<string, string>>;
      const before = python<Sections>(
        PYTHON_INI,
        seen.map(({ text }) => text),
      );
      const after = python<Sections>(
        PYTHON_INI,
        seen.map(({ written }) => written),
      );
      for (const [n, { name, key, value }] of seen.entries())
        expect(after[n]).to.deep.equal({ ...before[n], [name]: { ...before[n]?.[name], [key]: String(value) } });
    });

    it('xml: writes a file that Python’s ElementTree can read', function () {
      if (!hasPython) this.skip();
      interface Tree {
        name: string;
        attributes: Record<string, string>;
        text: string;
        children: Tree[];
      }
      const texts = fc.constantFrom(
        '<a/>',
        '<a>\n</a>',
        '<?xml version="1.0" encoding="UTF-8"?>\r\n<!-- <b> -->\r\n<a>\r\n  <b x="1">old</b>\r\n  <c/>\r\n</a>\r\n',
        "<a><?go now?><b><![CDATA[<d>]]></b><c y='>'>t<!-- d --></c></a>",
        '<a>\n\t<c>\n\t\t<d>1</d>\n\t</c>\n</a>',
      );
      const keys = fc.constantFrom('a/b', 'a/b/@x', 'a/new', 'a/c/@y', 'a/c/d', 'a/new/deep/@z', 'a/@top');
      const values = fc.oneof(
        fc.stringMatching(/^[ -~é😀]{1,16}$/u),
        fc.constantFrom(']]>', '&amp;', '"\'<>\t\n', 'a\r\nb'),
        fc.integer(),
      );
      const seen: { written: string; path: string; given: string }[] = [];
      const check = (before: string, path: string, value: SettingValue): void => {
        let written: string;
        try {
          written = SETTINGS_FORMATS.xml.write(before, path, value);
        } catch (error) {
          expect(error).to.be.instanceOf(FormatError);
          return;
        }
        expect(SETTINGS_FORMATS.xml.write(written, path, value)).to.equal(written);
        expect(SETTINGS_FORMATS.xml.read(written, path)).to.equal(String(value));
        expect(isSubsequence(before.match(/<!--.*?-->/g) ?? [], written)).to.equal(true);
        seen.push({ written, path, given: String(value) });
      };
      fc.assert(fc.property(texts, keys, values, check), { numRuns: 300 });
      const trees = python<Tree>(
        PYTHON_XML,
        seen.map(({ written }) => written),
      );
      for (const [n, { path, given }] of seen.entries()) {
        let at = trees[n] as Tree;
        const names = path.split('/').slice(1);
        for (const name of names.filter((one) => !one.startsWith('@'))) {
          const found = at.children.filter((child) => child.name === name);
          expect(found).to.have.length(1);
          at = found[0] as Tree;
        }
        const last = names.at(-1) ?? '';
        expect(last.startsWith('@') ? at.attributes[last.slice(1)] : at.text).to.equal(given);
      }
    });
  });
});

const isSubsequence = (parts: readonly string[], text: string): boolean => {
  let at = 0;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
};

const COMMENT = /"(?:\\.|[^"\\])*"|\/\/[^\r\n]*|\/\*.*?\*\//gs;
const withoutComments = (text: string): string =>
  text.replace(COMMENT, (found) => (found.startsWith('"') ? found : ''));
const commentsOf = (text: string): string[] => (text.match(COMMENT) ?? []).filter((found) => !found.startsWith('"'));

/** A copy without what lies at the path, and without objects that are empty then. */
function removed(object: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || typeof object !== 'object' || object === null) return object;
  const copy = { ...(object as Record<string, unknown>) };
  const inner = rest.length === 0 ? undefined : removed(copy[name], rest);
  if (inner === undefined || inner === null || Object.keys(inner).length === 0) delete copy[name];
  else copy[name] = inner;
  return copy;
}
