/** Configuration section `backups`; main.ts also reads `path` and `keep` to create the port. */
import joi from 'joi';

export interface BackupsConfig {
  every_hours: number;
  path: string;
  keep: number;
}

export const backupsConfigSchema = joi.object<BackupsConfig>({
  every_hours: joi
    .number()
    .integer()
    .min(0)
    .max(8_760)
    .unit('hours')
    .default(24)
    .description(
      'Embedded store: how often the service makes a backup of itself. 0: never; before migrations it does so all the same.',
    ),
  path: joi
    .string()
    .default('backups')
    .description('Folder of those backups. A relative path lies in the data directory; another disk is better.'),
  keep: joi
    .number()
    .integer()
    .min(1)
    .max(10_000)
    .default(7)
    .description('How many of them stay; the oldest goes first.'),
});
