"""NeMo Gym: a resources server whose reward is chrF; tasks have a field `references`."""

from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, SimpleResourcesServer

from softbleu import Reward


class Request(BaseVerifyRequest):
    references: list[str]


class Server(SimpleResourcesServer):
    async def verify(self, body: Request) -> BaseVerifyResponse:
        messages = [item.model_dump() for item in body.response.output if item.type == "message"]
        (reward,) = Reward("chrf")([messages], [body.references])
        return BaseVerifyResponse(**body.model_dump(), reward=reward)


if __name__ == "__main__":
    Server.run_webserver()
