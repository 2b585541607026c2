/** Search for actions such as `new monitor` or `silence web-1`. Each hit leads to a form. */
import type {
  TargetedSearchAction,
  PlainSearchAction,
  SearchAction,
  SearchHit,
  SearchProvider,
  SearchQuery,
} from '../../ports/domain/search.js';

/** Minimum prefix of a verb. */
const MIN_VERB_CHARACTERS = 2;

const hasPrefix = (word: string, ...names: readonly string[]): boolean =>
  names.some((name) =>
    name
      .toLowerCase()
      .split(/\s+/)
      .some((part) => part.startsWith(word)),
  );

const isVerb = ({ verb, also = [] }: SearchAction, word: string): boolean => hasPrefix(word, verb, ...also);

const isPlainAct = (act: SearchAction): act is PlainSearchAction => 'noun' in act;

async function findPlainHits(act: PlainSearchAction, words: readonly string[]): Promise<SearchHit[]> {
  const { verb, noun, nouns = [], href } = act;
  return words.every((word) => hasPrefix(word, noun, ...nouns)) ? [{ title: `${verb} ${noun}`, href }] : [];
}

const withTitle = (title: string, hit: SearchHit): SearchHit => ({ ...hit, title });

async function findTargetHits({ verb, on }: TargetedSearchAction, question: SearchQuery): Promise<SearchHit[]> {
  const { text, words } = question;
  if (words.length < 2) return [];
  const rest = text.replace(/^\S+\s+/, '');
  // Words are deduplicated; the text after the verb stays as typed.
  const hits = await on({ ...question, text: rest, words: [...new Set(rest.toLowerCase().split(/\s+/))] });
  return hits.map((hit) => withTitle(`${verb} ${hit.title}`, hit));
}

export interface ActionResults {
  hits: SearchHit[];
  /** URL of the only hit, or of one that was typed in full; otherwise null. */
  exact: string | null;
}

/** @param providers providers that the caller's role may use */
export async function findActions(providers: readonly SearchProvider[], question: SearchQuery): Promise<ActionResults> {
  const [verb = '', ...rest] = question.words;
  if (verb.length < MIN_VERB_CHARACTERS) return { hits: [], exact: null };
  const mine = providers
    .flatMap(({ acts = [] }) => acts)
    .filter(({ role }) => role === undefined || question.principal.role === role);
  const meant = mine.filter((act) => isVerb(act, verb));
  const found = await Promise.all(
    meant.map((act) => (isPlainAct(act) ? findPlainHits(act, rest) : findTargetHits(act, question))),
  );
  const hits = found.flat();
  const named = hits.find(({ title }) => title.toLowerCase() === question.words.join(' '));
  const [only] = hits.length === 1 && rest.length > 0 ? hits : [];
  return { hits: hits.slice(0, question.limit), exact: named?.href ?? only?.href ?? null };
}
