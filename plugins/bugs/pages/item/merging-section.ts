import { buildNewRuleUrl } from '../grouping/rule-links.js';
import type { GroupingKeyReason } from '../../splitting/group-reasons.js';
import { getQueryText, type ItemSectionInput } from './section.js';

const MAX_SHOWN_KEYS = 3;

function buildKeyParts({ origin, masked, rule, fingerprint }: GroupingKeyReason): { label: string; value: string }[][] {
  if (rule !== null || fingerprint || masked === null) return [];
  const [file = '', ...name] = origin?.split('#') ?? [];
  const parts = [
    { label: 'Origin', value: file === '' ? 'Unknown' : file },
    { label: 'Function', value: name.length === 0 ? 'Unknown' : name.join('#') },
    { label: 'Message', value: masked },
  ];
  return [parts];
}

export async function buildMergingSection({
  page: { reader, deps, services },
  request,
  item,
  doc,
  problem,
}: ItemSectionInput): Promise<object> {
  const find = getQueryText(request, 'find');
  const searching = find !== '' || request.query['find'] !== undefined || problem.form === 'merge';
  const [original, duplicates, candidates, alike, { says, keys }] = await Promise.all([
    item.duplicate_of === null ? null : deps.items.get(item.duplicate_of),
    reader.listDuplicates(item.id),
    searching ? reader.findMergeTargets(doc, find) : null,
    reader.hasSimilar(doc),
    services.reasons.getReasons(doc),
  ]);
  return {
    find,
    original: original && { ref: original.ref, title: original.title, status: original.status },
    duplicates,
    candidates,
    alike,
    reasons: says,
    places: keys.slice(0, MAX_SHOWN_KEYS).flatMap(buildKeyParts),
    rule_link: item.type === 'error' ? buildNewRuleUrl(item, keys[0]?.origin ?? null) : null,
    may_split: item.status !== 'duplicate' && keys.some(({ kept: storedCount }) => storedCount > 0),
  };
}
