import type { MountedRoute } from '../../ports/http/index.js';
import type { TestAnswer } from './answer.js';

/** Fields that the service adds to a response. */
const ENVELOPE_FIELDS = new Set(['status', 'warnings']);

function toPattern(path: string): RegExp {
  const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const parts = path.split(/(\{[^}]*\})/).map((part) => {
    if (!part.startsWith('{')) return literal(part);
    return part.includes('*') ? '.+' : part.includes('?') ? '[^/]*' : '[^/]+';
  });
  return new RegExp(`^${parts.join('')}$`);
}

function findRoute(routes: readonly MountedRoute[], method: string, path: string): MountedRoute | undefined {
  const fits = routes.filter(
    ({ spec }) =>
      [spec.method].flat().includes(method as never) &&
      [spec.path, ...(spec.aliases ?? [])].some((one) => toPattern(one).test(path)),
  );
  // The route with the fewest parameters takes precedence.
  const countParameters = ({ spec }: MountedRoute): number => spec.path.split('{').length;
  return fits.toSorted((a, b) => countParameters(a) - countParameters(b))[0];
}

type DeclaredOutput = NonNullable<MountedRoute['spec']['output']>;
type SingleOutput = Exclude<DeclaredOutput, Readonly<Record<number, unknown>>>;

const isSchema = (output: DeclaredOutput): output is SingleOutput =>
  typeof (output as { validate?: unknown }).validate === 'function';

/**
 * Compares a route's response with its declared `output`.
 * @throws Error when a successful response does not match
 */
export function checkOutput(
  routes: readonly MountedRoute[],
  { method, url, answer }: { method: string; url: string; answer: TestAnswer<unknown> },
): void {
  const isJson = String(answer.headers['content-type'] ?? '').startsWith('application/json');
  if (answer.status < 200 || answer.status > 299 || !isJson) return;
  const path = new URL(url, 'http://a.invalid').pathname;
  const declared = findRoute(routes, method, path)?.spec.output;
  const schema = declared === undefined || isSchema(declared) ? declared : declared[answer.status];
  if (schema === undefined) return;
  const whole = answer.body;
  const given = schema.validate(whole, { abortEarly: false, convert: false });
  if (given.error === undefined || whole === null || typeof whole !== 'object') return;
  const inner = Object.fromEntries(Object.entries(whole).filter(([name]) => !ENVELOPE_FIELDS.has(name)));
  const { error } = schema.validate(inner, { abortEarly: false, convert: false });
  if (error === undefined) return;
  const faults = error.details.map(({ message }) => message).join('; ');
  throw new Error(`${method} ${path} answers something else than its declared output: ${faults}`);
}
