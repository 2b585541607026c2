/** The dashboard's cards of the bug tracker: what needs a person, and how the last 30 days went. */
import { View, type PanelSpec } from '../../../kernel/contract.js';
import type { Board } from '../lists/board.js';
import type { Numbers } from './numbers.js';

const SHOWN = 6;

export function panels(board: Pick<Board, 'attention'>, numbers: Pick<Numbers, 'read'>): PanelSpec[] {
  return [
    {
      id: 'bugs.attention',
      kind: 'attention',
      order: 10,
      load: async () => {
        const { items, total } = await board.attention(SHOWN);
        return total === 0 ? null : new View('panel-attention', { items, total, more: total - items.length });
      },
    },
    {
      id: 'bugs.flow',
      kind: 'trend',
      order: 20,
      load: async () => {
        const { days, sums } = await numbers.read();
        const any = sums.new + sums.resolved + sums.regressed > 0;
        return any ? new View('panel-flow', { days, sums }) : null;
      },
    },
  ];
}
