import type { OwnCommand } from './composition.js';
import { withService } from './service.js';

export const migrateCommand: OwnCommand = {
  name: 'migrate',
  summary: 'Apply pending store migrations',
  run: (_call, composition) =>
    withService(composition, { migrate: false }, async ({ kernel }) => {
      const { applied, pending } = await kernel.system.migrate();
      const text = applied.length === 0 ? 'Nothing was pending.' : `Applied: ${applied.join(', ')}.`;
      return {
        json: { applied, pending },
        text: pending.length === 0 ? text : `${text} Still pending: ${pending.join(', ')}.`,
      };
    }),
};
