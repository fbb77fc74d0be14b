"""NeMo Gym 0.7: a resources server whose reward is chrF; tasks have a field `references`."""

from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, SimpleResourcesServer

from softbleu import Reward

reward = Reward("chrf", normalize_unicode="NFC", gate="reasoning+empty")


class Request(BaseVerifyRequest):
    references: list[str]


class Response(BaseVerifyResponse, extra="allow"): ...


class Server(SimpleResourcesServer):
    async def verify(self, body: Request) -> Response:
        rules = {}  # 1 for each rule of the gate that changed the text
        (score,) = reward([body.response.output_text], [body.references], log_metric=rules.__setitem__)
        return Response(**body.model_dump(), reward=score, **rules)


if __name__ == "__main__":
    Server.run_webserver()
