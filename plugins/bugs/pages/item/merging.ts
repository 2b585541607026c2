import { newRuleUrl } from '../grouping/rule-links.js';
import type { KeyReason } from '../../splitting/reasons.js';
import { queryText, type About } from './about.js';

const SHOWN_KEYS = 3;

function placeOf({ origin, masked, rule, fingerprint }: KeyReason): { label: string; value: string }[][] {
  if (rule !== null || fingerprint || masked === null) return [];
  const [file = '', ...name] = origin?.split('#') ?? [];
  const parts = [
    { label: 'Origin', value: file === '' ? 'none named' : file },
    { label: 'Function', value: name.length === 0 ? 'none named' : name.join('#') },
    { label: 'Message', value: masked },
  ];
  return [parts];
}

export async function merging({
  page: { reader, deps, services },
  request,
  item,
  doc,
  problem,
}: About): Promise<object> {
  const find = queryText(request, 'find');
  const searching = find !== '' || request.query['find'] !== undefined || problem.form === 'merge';
  const [original, duplicates, candidates, alike, { says, keys }] = await Promise.all([
    item.duplicate_of === null ? null : deps.items.get(item.duplicate_of),
    reader.duplicatesOf(item.id),
    searching ? reader.candidates(doc, find) : null,
    reader.anyAlike(doc),
    services.reasons.of(doc),
  ]);
  return {
    find,
    original: original && { ref: original.ref, title: original.title, status: original.status },
    duplicates,
    candidates,
    alike,
    reasons: says,
    places: keys.slice(0, SHOWN_KEYS).flatMap(placeOf),
    rule_link: item.type === 'error' ? newRuleUrl(item, keys[0]?.origin ?? null) : null,
    may_split: item.status !== 'duplicate' && keys.some(({ kept }) => kept > 0),
  };
}
