/**
 * Masks duplicate-key messages (contract 21, masked: templates first): values even without digits,
 * no names of keys, indexes or constraints. Ends are found by `indexOf`, because values may hold
 * any character.
 */

export interface MessagePart {
  text: string;
  final: boolean;
}

type Template = (text: string, at: number, end: number) => { upTo: number; instead: string } | null;

const HINT = /duplicate|constraint|dup key|\bkey \(|eintrag|schl|SQL: /i;
const OPENING =
  /(duplicate entry|doppelter eintrag) ['"`]|(\bkey|schlüssel) »?\(|(duplicate key value is|doppelte schlüsselwert (?:ist|lautet):?) \(|(constraint|einschränkung) ?['"`«»„“]|(duplicate key(?: row)? in object|with unique index) ['"]|(E11000 duplicate key)|(\bSQL: insert )/gi;

const TEMPLATES: readonly Template[] = [
  parseMysqlEntry,
  parsePostgresKey,
  parseBracketedValue,
  parseQuotedName,
  parseQuotedName,
  parseMongoKey,
  parseInsertedValues,
];

export function splitDuplicates(text: string): MessagePart[] {
  if (!HINT.test(text)) return [{ text, final: false }];
  const pieces: MessagePart[] = [];
  let done = 0;
  OPENING.lastIndex = 0;
  for (let match = OPENING.exec(text); match !== null; match = OPENING.exec(text)) {
    const at = match.index + match[0].length;
    const template = TEMPLATES[match.slice(1).findIndex((group) => group !== undefined)];
    const found = template?.(text, at, findLineEnd(text, at)) ?? null;
    if (found === null) continue;
    const before = { text: text.slice(done, match.index), final: false };
    pieces.push(before, { text: match[0] + found.instead, final: true });
    done = found.upTo;
    OPENING.lastIndex = done;
  }
  pieces.push({ text: text.slice(done), final: false });
  return pieces;
}

function findLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

const limitIndex = (found: number, end: number): number => (found < 0 || found >= end ? -1 : found);

const KEY_WORD = /['"`] (?:for key|für schlüssel) /gi;
const MAX_NAME_LENGTH = 300;
const CLOSING_QUOTES: Readonly<Record<string, string>> = { '«': '»', '»': '«', '„': '“', '“': '”' };

/** `Duplicate entry 'value' for key 'name'`; old servers: `for key 1`. */
function parseMysqlEntry(text: string, at: number, end: number): ReturnType<Template> {
  KEY_WORD.lastIndex = at;
  const match = KEY_WORD.exec(text);
  if (match === null || match.index >= end) return null;
  const after = match.index + match[0].length;
  const quote = /['"`]/.test(text[after] ?? '') ? text[after] : null;
  const close = quote ? limitIndex(text.indexOf(quote, after + 1), end) : -1;
  const upTo = quote === null ? findWordEnd(text, after, end) : close < 0 ? after : close + 1;
  return { upTo, instead: `<value>${text.slice(match.index, upTo)}` };
}

function findWordEnd(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && !/\s/.test(text[at] ?? ' ')) at++;
  return at;
}

const KEY_END = /\)[«»]? (?:already exists|is not present|is still referenced|conflicts with|existiert bereits)/g;

/** `Key (column, column)=(value, value) already exists.` */
function parsePostgresKey(text: string, at: number, end: number): ReturnType<Template> {
  const values = limitIndex(text.indexOf(')=(', at), end);
  if (values < 0 || values - at > MAX_NAME_LENGTH) return null;
  KEY_END.lastIndex = values + 3;
  const match = KEY_END.exec(text);
  const close = match !== null && match.index < end ? match.index : text.lastIndexOf(')', end - 1);
  if (close < values + 3) return null;
  return { upTo: close, instead: `${text.slice(at, values)})=(<value>` };
}

/** `The duplicate key value is (value, value).` */
function parseBracketedValue(text: string, at: number, end: number): ReturnType<Template> {
  const sentence = limitIndex(text.indexOf(').', at), end);
  const close = sentence < 0 ? text.lastIndexOf(')', end - 1) : sentence;
  return close < at ? null : { upTo: close, instead: '<value>' };
}

function parseQuotedName(text: string, at: number, end: number): ReturnType<Template> {
  const quote = text[at - 1] ?? '';
  const close = limitIndex(text.indexOf(CLOSING_QUOTES[quote] ?? quote, at), Math.min(end, at + MAX_NAME_LENGTH));
  return close < 0 ? null : { upTo: close + 1, instead: text.slice(at, close + 1) };
}

/** `E11000 duplicate key error collection: db.users index: email_1 dup key: { email: "value" }` */
function parseMongoKey(text: string, at: number, end: number): ReturnType<Template> {
  const key = limitIndex(text.indexOf('dup key: {', at), end);
  if (key < 0) return null;
  const open = key + 'dup key: {'.length;
  const close = findClosingBrace(text, open, end);
  return { upTo: close, instead: `${text.slice(at, open)} <value> ` };
}

const VALUES_CLAUSE = ' values (';

/**
 * Laravel's `(Connection: x, SQL: insert into "users" ("name") values (Bob, 5))`: the values are
 * unquoted.
 */
function parseInsertedValues(text: string, at: number): ReturnType<Template> {
  const values = text.indexOf(VALUES_CLAUSE, at);
  if (values < 0) return null;
  const open = values + VALUES_CLAUSE.length;
  return { upTo: Math.max(open, text.lastIndexOf(')')), instead: `${text.slice(at, open)}<value>` };
}

function findClosingBrace(text: string, from: number, end: number): number {
  let depth = 1;
  let quoted = false;
  for (let at = from; at < end; at++) {
    const char = text[at];
    if (quoted && char === '\\') at++;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && char === '{') depth++;
    else if (!quoted && char === '}' && --depth === 0) return at;
  }
  return end;
}
