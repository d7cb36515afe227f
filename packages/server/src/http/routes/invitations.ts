import type { ActorNames } from '../../app/actor-names.ts';
import {
  type InvitationServices,
  acceptInvitation,
  createInvitation,
  listInvitations,
  readInvitation,
  revokeInvitation,
} from '../../app/people/invitations.ts';
import { refuse } from '../../app/refusal.ts';
import type { SignUp } from '../../auth/sign-in/sign-up.ts';
import { actorOf } from '../actor.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import {
  acceptedInvitationView,
  invitationView,
  issuedInvitationView,
  offeredInvitationView,
} from '../views/invitations.ts';

type InvitationOperations =
  | 'create_invitation'
  | 'list_invitations'
  | 'revoke_invitation'
  | 'read_invitation'
  | 'accept_invitation'
  | 'sign_up';

export interface InvitationParts {
  readonly cursors: Cursors;
  readonly actorNames: ActorNames;
  readonly signUp: SignUp;
  /** Where a person opens an invitation; undefined without the console. */
  readonly joinUrl: string | undefined;
}

export function invitationRoutes(
  services: InvitationServices,
  { cursors, actorNames, signUp, joinUrl }: InvitationParts,
): Handlers<InvitationOperations> {
  return {
    async create_invitation({ caller, headers, body, request, chargeRate }) {
      const issued = await createInvitation(services, caller.organizationId, {
        role: body.role,
        email: body.email,
        inviter: caller,
        idempotencyKey: headers['idempotency-key'],
        by: actorOf(caller, request),
        chargeRate,
      });
      const names = await actorNames.of([caller.userId]);
      return { status: 201, body: issuedInvitationView(issued, { names, joinUrl }) };
    },

    async list_invitations({ caller, query }) {
      const { organizationId } = caller;
      const { items, next } = await cursors.page(`invitations:${organizationId}`, query, {
        read: (page) => listInvitations(services, organizationId, page),
        idOf: ({ id }) => id,
      });
      const names = await actorNames.of(items.map(({ createdBy }) => createdBy));
      const invitations = items.map((item) => invitationView(item, names));
      return { status: 200, body: { invitations, ...next } };
    },

    async revoke_invitation({ caller, params, request }) {
      const by = actorOf(caller, request);
      await revokeInvitation(services, caller.organizationId, { id: params.invitation_id, by });
      return { status: 204, body: undefined };
    },

    async read_invitation({ body }) {
      const offered = await readInvitation(services, body.secret);
      return { status: 200, body: offeredInvitationView(offered) };
    },

    async accept_invitation({ caller, body, request }) {
      // The gate admits people only, which the type of a caller of any kind does not say.
      if (caller.kind !== 'human') return refuse('forbidden', { codeOnly: true });
      const from = { requestId: request.id, address: request.address };
      const { userId } = caller;
      const accepted = await acceptInvitation(services, { secret: body.secret, userId, from });
      return { status: 200, body: acceptedInvitationView(accepted) };
    },

    async sign_up({ body, request }) {
      const { id: requestId, address } = request;
      const { accepted, ticket } = await signUp.join({ ...body, requestId, address });
      return { status: 201, body: { ...acceptedInvitationView(accepted), ticket } };
    },
  };
}
