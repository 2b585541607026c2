import joi from 'joi';

export interface SetupConfig {
  built_agents: string;
}

export const setupConfig = joi.object<SetupConfig>({
  built_agents: joi
    .string()
    .min(1)
    .default('build/agent')
    .description(
      'Where `npm run build:agent` leaves the update agents; a relative path lies in the service’s own folder',
    ),
});
