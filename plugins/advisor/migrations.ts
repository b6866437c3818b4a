import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-advisor',
    up: `
      CREATE TABLE advisor_observed (
        org_id {{int}} NOT NULL,
        day {{int}} NOT NULL,
        virtual_model TEXT NOT NULL,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        wire_format TEXT NOT NULL,
        calls {{int}} NOT NULL DEFAULT 0,
        failures {{int}} NOT NULL DEFAULT 0,
        outages {{int}} NOT NULL DEFAULT 0,
        looked_at {{int}} NOT NULL DEFAULT 0,
        cost_nano {{int}} NOT NULL DEFAULT 0,
        repeats {{int}} NOT NULL DEFAULT 0,
        repeat_cost_nano {{int}} NOT NULL DEFAULT 0,
        near_repeats {{int}} NOT NULL DEFAULT 0,
        near_cost_nano {{int}} NOT NULL DEFAULT 0,
        prompt_chars {{int}} NOT NULL DEFAULT 0,
        tool_chars {{int}} NOT NULL DEFAULT 0,
        prefix_chars {{int}} NOT NULL DEFAULT 0,
        PRIMARY KEY (org_id, day, virtual_model, provider, model, wire_format)
      );
      CREATE TABLE advisor_actions (
        id {{id}},
        org_id {{int}} NOT NULL,
        recommendation_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        entity TEXT NOT NULL,
        action_json TEXT NOT NULL,
        before_json TEXT NOT NULL,
        after_json TEXT NOT NULL,
        baseline_json TEXT NOT NULL,
        unanswered {{int}} NOT NULL,
        state TEXT NOT NULL,
        rollback_reason TEXT,
        applied_at {{int}} NOT NULL,
        probation_until {{int}} NOT NULL,
        ended_at {{int}}
      );
      CREATE UNIQUE INDEX advisor_actions_open ON advisor_actions (org_id, entity) WHERE state = 'applied';
      CREATE TABLE advisor_digests (
        org_id {{int}} NOT NULL,
        week_start {{int}} NOT NULL,
        PRIMARY KEY (org_id, week_start)
      );
    `,
  },
]
