/** The dashboard's card of what needs a person: critical items that nobody holds, and regressions. */
import { View, type PanelSpec } from '../../kernel/contract.js';
import type { Board } from './board.js';

const SHOWN = 6;

export function panels(board: Board): PanelSpec[] {
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
  ];
}
