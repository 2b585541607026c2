import { SEVERITIES } from '../../item/severity.js';
import { queryText, type About } from './about.js';
import { commandsOf } from './facts.js';
import { movesFrom } from './moves.js';

const MAX_NAMES = 100;

export async function changes({ page, request, item, problem }: About): Promise<object> {
  const moves = movesFrom(item.status, item.claim !== null);
  const typed = problem.form === 'labels' ? problem.typed : undefined;
  return {
    moves,
    may_merge: moves.some(({ to }) => to === 'duplicate'),
    accounts: await page.deps.accounts.names(MAX_NAMES),
    severities: SEVERITIES.toReversed(),
    tags_text: typed?.['tags'] ?? item.tags.join(', '),
    agent_text: typed?.['target_agent'] ?? item.target_agent,
    commands: commandsOf(item, page.baseUrl()),
    open: problem.form ?? (queryText(request, 'find') !== '' || request.query['find'] !== undefined ? 'merge' : ''),
  };
}
