/** /bugs/{ref} (contract 80). Report texts are untrusted. */
import { View, type HttpRequest } from '../../../../kernel/contract.js';
import { notFound } from '../../../../kernel/errors.js';
import { toBugCaller } from '../../caller.js';
import { part, type About, type ItemSection } from './about.js';
import { changes } from './changes.js';
import { crash } from './crash.js';
import { factRows } from './facts.js';
import { frequency } from './frequency.js';
import { head } from './head.js';
import { links } from './links.js';
import { merging } from './merging.js';
import { occurrenceRows } from './occurrences.js';
import { releases } from './releases.js';
import { spread } from './spread.js';
import { talk } from './talk.js';
import { contextOf } from '../shared/context.js';
import type { FormProblem } from '../shared/form.js';
import { refOf, type PageDeps } from '../shared/page-deps.js';

const SECTIONS: readonly ItemSection[] = [
  head,
  crash,
  occurrenceRows,
  talk,
  frequency,
  releases,
  changes,
  factRows,
  spread,
  merging,
  links,
];

export async function itemView(
  page: PageDeps,
  request: HttpRequest,
  problem: Partial<FormProblem> = {},
): Promise<View> {
  const caller = toBugCaller(request.principal);
  const detail = await page.services.lists.detail(refOf(request), caller, { occurrences: 0 });
  const { item } = detail;
  const [doc, occurrences] = await Promise.all([
    page.deps.items.get(item.id),
    part({ page, request, caller, item }, 'occurrences'),
  ]);
  if (doc === null) throw notFound('item with this id');
  const about: About = { page, request, caller, detail, item, doc, occurrences, context: contextOf(request), problem };
  const fields = await Promise.all(SECTIONS.map(async (section) => section(about)));
  return new View('bug', Object.assign({}, ...fields, problem) as Record<string, unknown>);
}
