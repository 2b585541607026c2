import { SEVERITIES } from '../../item/severity.js';
import { getQueryText, type ItemSectionInput } from './section.js';
import { buildAgentCommands } from './facts-section.js';
import { listStatusMoves } from './status-moves.js';

const MAX_ASSIGNEE_SUGGESTIONS = 100;

export async function buildChangesSection({ page, request, item, problem }: ItemSectionInput): Promise<object> {
  const moves = listStatusMoves(item.status, item.claim !== null);
  const typed = problem.form === 'labels' ? problem.typed : undefined;
  return {
    moves,
    may_merge: moves.some(({ to }) => to === 'duplicate'),
    accounts: await page.deps.accounts.listUsernames(MAX_ASSIGNEE_SUGGESTIONS),
    severities: SEVERITIES.toReversed(),
    tags_text: typed?.['tags'] ?? item.tags.join(', '),
    agent_text: typed?.['target_agent'] ?? item.target_agent,
    commands: buildAgentCommands(item, page.baseUrl()),
    open: problem.form ?? (getQueryText(request, 'find') !== '' || request.query['find'] !== undefined ? 'merge' : ''),
  };
}
