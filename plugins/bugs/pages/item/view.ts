/** /bugs/{ref} (contract 80). Report texts are untrusted. */
import { View, type HttpRequest } from '../../../../kernel/contract.js';
import { notFound } from '../../../../kernel/errors.js';
import { toBugCaller } from '../../caller.js';
import { loadPart, type ItemSectionInput, type ItemSection } from './about.js';
import { buildChangesSection } from './changes.js';
import { buildCrashSection } from './crash.js';
import { buildFactsSection } from './facts.js';
import { buildFrequencySection } from './frequency.js';
import { buildHeaderSection } from './head.js';
import { buildLinksSection } from './links.js';
import { buildMergingSection } from './merging.js';
import { buildOccurrencesSection } from './occurrences.js';
import { buildReleasesSection } from './releases.js';
import { buildSpreadSection } from './spread.js';
import { buildConversationSection } from './talk.js';
import { getListContext } from '../shared/context.js';
import type { FormProblem } from '../shared/form.js';
import { getRef, type PageDeps } from '../shared/page-deps.js';

const SECTIONS: readonly ItemSection[] = [
  buildHeaderSection,
  buildCrashSection,
  buildOccurrencesSection,
  buildConversationSection,
  buildFrequencySection,
  buildReleasesSection,
  buildChangesSection,
  buildFactsSection,
  buildSpreadSection,
  buildMergingSection,
  buildLinksSection,
];

export async function buildItemView(
  page: PageDeps,
  request: HttpRequest,
  problem: Partial<FormProblem> = {},
): Promise<View> {
  const caller = toBugCaller(request.principal);
  const detail = await page.services.lists.getDetail(getRef(request), caller, { occurrences: 0 });
  const { item } = detail;
  const [doc, occurrences] = await Promise.all([
    page.deps.items.get(item.id),
    loadPart({ page, request, caller, item }, 'occurrences'),
  ]);
  if (doc === null) throw notFound('item with this id');
  const about: ItemSectionInput = { page, request, caller, detail, item, doc, occurrences, context: getListContext(request), problem };
  const fields = await Promise.all(SECTIONS.map(async (section) => section(about)));
  return new View('bug', Object.assign({}, ...fields, problem) as Record<string, unknown>);
}
