/** Search for actions such as `new monitor` or `silence web-1`. Each hit leads to a form. */
import type {
  ActOn,
  PlainAct,
  SearchAct,
  SearchHit,
  SearchProvider,
  SearchQuestion,
} from '../../ports/domain/search.js';

/** Minimum prefix of a verb. */
const LEAST = 2;

const begins = (word: string, ...names: readonly string[]): boolean =>
  names.some((name) =>
    name
      .toLowerCase()
      .split(/\s+/)
      .some((part) => part.startsWith(word)),
  );

const isVerb = ({ verb, also = [] }: SearchAct, word: string): boolean => begins(word, verb, ...also);

const isPlain = (act: SearchAct): act is PlainAct => 'noun' in act;

async function plainHit(act: PlainAct, words: readonly string[]): Promise<SearchHit[]> {
  const { verb, noun, nouns = [], href } = act;
  return words.every((word) => begins(word, noun, ...nouns)) ? [{ title: `${verb} ${noun}`, href }] : [];
}

const titled = (title: string, hit: SearchHit): SearchHit => ({ ...hit, title });

async function hitsOn({ verb, on }: ActOn, question: SearchQuestion): Promise<SearchHit[]> {
  const { text, words } = question;
  if (words.length < 2) return [];
  const rest = text.replace(/^\S+\s+/, '');
  // Words are deduplicated; the text after the verb stays as typed.
  const hits = await on({ ...question, text: rest, words: [...new Set(rest.toLowerCase().split(/\s+/))] });
  return hits.map((hit) => titled(`${verb} ${hit.title}`, hit));
}

export interface FoundActs {
  hits: SearchHit[];
  /** URL of the only hit, or of one that was typed in full; otherwise null. */
  exact: string | null;
}

/** @param asked providers that the caller's role may use */
export async function findActs(asked: readonly SearchProvider[], question: SearchQuestion): Promise<FoundActs> {
  const [verb = '', ...rest] = question.words;
  if (verb.length < LEAST) return { hits: [], exact: null };
  const mine = asked
    .flatMap(({ acts = [] }) => acts)
    .filter(({ role }) => role === undefined || question.principal.role === role);
  const meant = mine.filter((act) => isVerb(act, verb));
  const found = await Promise.all(meant.map((act) => (isPlain(act) ? plainHit(act, rest) : hitsOn(act, question))));
  const hits = found.flat();
  const named = hits.find(({ title }) => title.toLowerCase() === question.words.join(' '));
  const [only] = hits.length === 1 && rest.length > 0 ? hits : [];
  return { hits: hits.slice(0, question.limit), exact: named?.href ?? only?.href ?? null };
}
