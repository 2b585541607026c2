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
    .description('Embedded store: interval of automatic backups. 0: never, except before migrations.'),
  path: joi
    .string()
    .default('backups')
    .description('Folder of these backups. A relative path is below the data directory; use another disk if possible.'),
  keep: joi
    .number()
    .integer()
    .min(1)
    .max(10_000)
    .default(7)
    .description('Number of backups to keep; the oldest are deleted first.'),
});
