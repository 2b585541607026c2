import { expect } from 'chai';
import { decodeText } from '../../../lib/text/decode-text.js';

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));

describe('lib: decodeText', () => {
  for (const [what, given, contentType, expected] of [
    ['UTF-8 without being told', Buffer.from('schön'), undefined, 'schön'],
    ['a byte order mark', bytes([0xef, 0xbb, 0xbf], '{"a":1}'), 'application/json', '{"a":1}'],
    ['UTF-16 by its mark', Buffer.concat([bytes([0xff, 0xfe]), Buffer.from('grün', 'utf16le')]), 'text/plain', 'grün'],
    ['a mark against the header', bytes([0xef, 0xbb, 0xbf, 0xc3, 0xbc]), 'text/plain; charset=iso-8859-1', 'ü'],
    ['ISO 8859-1 by the header', bytes('sch\xf6n'), 'text/plain; Charset="ISO-8859-1"', 'schön'],
    ['Windows 1251', bytes([0xe4, 0xe0]), 'text/html; charset=windows-1251', 'да'],
    ['Shift JIS', bytes([0x8d, 0x44]), 'text/html;charset=Shift_JIS', '好'],
    [
      'a page that says so itself',
      bytes('<html><meta charset="iso-8859-15">\xa4'),
      'text/html',
      '<html><meta charset="iso-8859-15">€',
    ],
    [
      'XML that says so itself',
      bytes('<?xml version="1.0" encoding="ISO-8859-1"?>\xe9'),
      'text/xml',
      '<?xml version="1.0" encoding="ISO-8859-1"?>é',
    ],
    [
      'a page of ASCII that says it is UTF-16',
      bytes('<meta charset="utf-16">ok'),
      'text/html',
      '<meta charset="utf-16">ok',
    ],
    ['a charset that nobody knows', Buffer.from('ü'), 'text/plain; charset=klingon', 'ü'],
    ['nothing', Buffer.alloc(0), 'text/plain; charset=utf-8', ''],
  ] as const)
    it(`decodes ${what}`, () => {
      expect(decodeText(given, contentType)).to.equal(expected);
    });
});
