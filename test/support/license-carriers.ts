/**
 * License files and keys as reformatted by mail, editors and shells (contract 50, amendments); all
 * of them are valid.
 */

const reformatBody = (text: string, lines: (body: string) => string): string => {
  const [, head = '', body = '', foot = ''] = /^(-.*-\n)([\s\S]*?)(-.*-)\n?$/.exec(text) ?? [];
  return head + lines(body.replaceAll('\n', '')) + foot;
};
const wrapAt = (width: number) => (body: string) => body.replace(new RegExp(`.{1,${width}}`, 'g'), '$&\n');

export const FILE_CARRIERS: Readonly<Record<string, (text: string) => string>> = {
  CRLF: (text) => text.replaceAll('\n', '\r\n'),
  'a byte order mark and CRLF': (text) => `\ufeff${text.replaceAll('\n', '\r\n')}`,
  'no last line end': (text) => text.trimEnd(),
  'blank lines before and after': (text) => `\n\r\n${text}\n\n`,
  'blank lines within': (text) => text.replaceAll('\n', '\n\n'),
  'blanks at the ends of lines': (text) => text.replaceAll('\n', ' \t\n'),
  'no-break spaces': (text) => text.replaceAll('\n', '\u00a0\n'),
  'lines of 76 characters': (text) => reformatBody(text, wrapAt(76)),
  'lines of 40 characters': (text) => reformatBody(text, wrapAt(40)),
  'one line': (text) => reformatBody(text, (body) => body),
  'text of a mail around it': (text) => `Dear customer,\r\nyour license:\r\n\r\n${text}\r\nRegards\n-- \nShop`,
  'a quoted mail': (text) => `On Monday you wrote:\n${text.trimEnd().replaceAll(/^/gm, '> ')}\n`,
  'mixed line ends': (text) => text.replace('\n', '\r\n'),
};

export const KEY_CARRIERS: Readonly<Record<string, (key: string) => string>> = {
  'small letters': (key) => key.toLowerCase(),
  'spaces around': (key) => `  ${key}\r\n`,
  'no hyphens': (key) => key.replaceAll('-', ''),
  'en dashes': (key) => key.replaceAll('-', '\u2013'),
  'em dashes': (key) => key.replaceAll('-', '\u2014'),
  'non-breaking hyphens': (key) => key.replaceAll('-', '\u2011'),
  'minus signs': (key) => key.replaceAll('-', '\u2212'),
  'spaces around dashes': (key) => key.replaceAll('-', ' \u2013 '),
  'no-break spaces': (key) => key.replaceAll('-', '\u00a0'),
  'zero-width spaces': (key) => `\u200b${key.replaceAll('-', '-\u200b')}\ufeff`,
  'soft hyphens': (key) => key.replaceAll('-', '\u00ad'),
};
