/** Requests to every operation of the interface description, most of them nearly right. */
import fc from 'fast-check';
import { HOSTILE, valueOf, type Schema } from './schema.js';

export interface Description {
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  parameters?: { name: string; in: 'path' | 'query' | 'header'; schema?: Schema }[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
}

export interface FuzzRequest {
  method: string;
  path: string;
  credential: 'full' | 'reader' | 'expendable' | 'shared' | 'garbage' | 'none';
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

/** What the service knows by name: what a request may hit, and what it may destroy. */
export interface Known {
  words: readonly string[];
  expendable: readonly string[];
}

/** `DELETE /tokens/self` must not end the run's own token, nor a deletion its only project. */
const destroys = (method: string, path: string): boolean => method === 'DELETE' || path.endsWith('/archive');

const encode = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

export function requests(description: Description, known: Known): fc.Arbitrary<FuzzRequest> {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const words = fc.constantFrom(...known.words);
  return fc.oneof(
    ...operations.map(({ path, method, operation }) =>
      fc.record({
        method: fc.constant(method),
        path: pathOf(path, operation, destroys(method, path) ? fc.constantFrom(...known.expendable) : words),
        credential: credentialFor(destroys(method, path)),
        headers: headersOf(operation),
        body: bodyOf(operation, words),
      }),
    ),
  );
}

const credentialFor = (careful: boolean): fc.Arbitrary<FuzzRequest['credential']> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(careful ? ('expendable' as const) : ('full' as const)) },
    { weight: 3, arbitrary: fc.constantFrom('reader' as const, 'shared' as const) },
    { weight: 1, arbitrary: fc.constantFrom('garbage' as const, 'none' as const) },
  );

function pathOf(template: string, operation: Operation, words: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const segment = fc.oneof(
    { weight: 6, arbitrary: words.map(encode) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE).map(encode) },
    { weight: 1, arbitrary: fc.constantFrom('%00', '%zz', '..', '%2e%2e', '.', '%ff') },
  );
  const parts = template.split(/(\{[^}]+\})/).map((part) => (part.startsWith('{') ? segment : fc.constant(part)));
  const path = fc.tuple(...parts).map((found) => found.join(''));
  return fc.tuple(path, queryOf(operation, words)).map(([at, query]) => (query === '' ? at : `${at}?${query}`));
}

function queryOf({ parameters = [] }: Operation, words: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const pair = fc.oneof(
    ...parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, schema }) => valueOf(schema, words).map((value) => asQuery(name, value))),
    fc
      .tuple(fc.constantFrom('unknown', '__proto__', 'limit', 'cursor', 'q'), fc.constantFrom(...HOSTILE))
      .map(([name, value]) => asQuery(name, value)),
  );
  return fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.filter(Boolean).join('&'));
}

function asQuery(name: string, value: unknown): string {
  const values = Array.isArray(value) ? value : [value];
  return values
    .map((one) => `${encode(name)}=${encode(typeof one === 'string' ? one : (JSON.stringify(one) ?? ''))}`)
    .join('&');
}

function headersOf({ requestBody }: Operation): fc.Arbitrary<Record<string, string>> {
  const right = Object.keys(requestBody?.content ?? {})[0];
  const type = fc.oneof(
    { weight: 12, arbitrary: fc.constant(right) },
    { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/xml', 'multipart/form-data', 'nonsense') },
  );
  const extra = fc.oneof(
    { weight: 8, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constantFrom<Record<string, string>>(...STRANGE_HEADERS) },
  );
  return fc.tuple(type, extra).map(([contentType, more]) => {
    const headers: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType };
    return Object.assign(headers, more);
  });
}

const STRANGE_HEADERS: Record<string, string>[] = [
  { 'if-match': '"x"' },
  { 'if-match': '*' },
  { 'x-request-id': '!' },
  { 'content-encoding': 'gzip' },
  { 'content-encoding': 'br' },
  { 'content-encoding': 'nonsense' },
  { cookie: '__proto__=1; aos_session=x' },
  { 'x-forwarded-for': '::ffff:10.0.0.1, <script>' },
  { range: 'bytes=0-99999999999' },
  { accept: 'text/html' },
];

function bodyOf({ requestBody }: Operation, words: fc.Arbitrary<string>): fc.Arbitrary<FuzzRequest['body']> {
  if (requestBody === undefined) return fc.constant(undefined);
  const schema = Object.values(requestBody.content)[0]?.schema;
  const json = valueOf(schema, words).map((value) => JSON.stringify(value) ?? '');
  return fc.oneof(
    { weight: 16, arbitrary: json },
    { weight: 1, arbitrary: json.map((text) => text.slice(0, Math.floor(text.length / 2))) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    { weight: 1, arbitrary: fc.constantFrom('', '[]', 'null', '"x"', '{"a":'.repeat(3000), '[[['.repeat(3000)) },
  );
}
